package configs

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// Owners tells which config file has which name, and which writes to which
// target. The zero value has none.
type Owners struct {
	names, targets map[string]string // to the file
}

// Claim notes the name and the targets of a config: of a fan-out those of its
// children and of its parent. Where another file has one of them, nothing is
// noted, and the error says which: the later of two that write the same file,
// or the same table of one, would take the earlier one's items away. It holds
// no secret.
func (o *Owners) Claim(file string, c *Config) error {
	var errs []error
	if other := o.names[c.Name]; other != "" && !sameFile(other, file) {
		errs = append(errs, fmt.Errorf("%s: name: %q is that of %s too; give each pull its own", file, c.Name, other))
	}
	claims, err := c.targets(file)
	if err != nil {
		errs = append(errs, err)
	}
	for _, t := range claims {
		if other := o.targets[t.place]; other != "" && !sameFile(other, t.file) {
			errs = append(errs, fmt.Errorf("%s: output.to: %q is that of %s too; give each pull its own file", t.file, c.Secrets.Hide(t.shown), other))
			break // of a fan-out the others are likely to follow
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	if o.names == nil {
		o.names, o.targets = map[string]string{}, map[string]string{}
	}
	o.names[c.Name] = file
	for _, t := range claims {
		o.targets[t.place] = t.file
	}
	return nil
}

func sameFile(a, b string) bool { return filepath.Clean(a) == filepath.Clean(b) }

// A target is what one file writes to.
type target struct{ file, place, shown string }

// targets lists what a config writes to.
func (c *Config) targets(file string) ([]target, error) {
	var list []target
	add := func(file string, c *Config, to string) {
		if place := c.placeOf(to); place != "" {
			list = append(list, target{file, place, c.Shown(to)})
		}
	}
	if c.Parent != nil {
		add(c.beside(c.ForEach.Pull), c.Parent, c.Parent.Output.To)
	}
	if c.ForEach == nil {
		add(file, c, c.Output.To)
		return list, nil
	}
	values, err := c.List()
	if len(values) == 0 { // only the parent knows them
		add(file, c, c.Output.To)
	}
	for _, value := range values {
		add(file, c, c.FileOf(c.Output.To, value))
	}
	return list, err
}

// placeOf is one and the same for all ways to write a target; empty for none,
// and for standard output.
func (c *Config) placeOf(to string) string {
	if to == "" || to == stdout {
		return ""
	}
	place := PlaceOf(to)
	if !Far(to) {
		place = filepath.Clean(to)
		if abs, err := filepath.Abs(place); err == nil {
			place = abs
		}
	}
	if table := c.TableOf(to); table != "" {
		place += " table " + table
	}
	return place
}

// Reads lists the other files that a config takes something from: the config
// of for_each.pull, the values of for_each.lines.
func (c *Config) Reads() []string {
	var list []string
	if c.ForEach != nil {
		for _, name := range []string{c.ForEach.Pull, c.ForEach.Lines} {
			if strings.TrimSpace(name) != "" {
				list = append(list, c.beside(name))
			}
		}
	}
	return list
}
