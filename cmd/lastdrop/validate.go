package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"lastdrop/configs"
)

// newValidateCmd makes `lastdrop validate`: are these configs good?
func newValidateCmd() *cobra.Command {
	var schema bool
	cmd := &cobra.Command{
		Use:   "validate CONFIG...",
		Short: "Check configs without asking anything",
		Long: `Validate reads configs as drain would and says of each whether it is good. What
is wrong comes with line, column and cure, a line each, on standard error; no
secret is printed. No request is made.

A CONFIG is a YAML file, or a folder, which means its *.yaml and *.yml. The
environment variables that a config names must be set.

Exit status: 0 all are good, 1 one is not, 4 no config.`,
		Example: `  lastdrop validate hn.yaml
  lastdrop validate configs/
  lastdrop validate --schema > lastdrop.schema.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if schema {
				return printSchema(cmd.OutOrStdout(), args)
			}
			return validate(cmd.OutOrStdout(), cmd.ErrOrStderr(), args)
		},
	}
	cmd.Flags().BoolVar(&schema, "schema", false, "print the JSON Schema of configs, for editors")
	return cmd
}

func printSchema(out io.Writer, args []string) error {
	if len(args) > 0 {
		return exitError{exitNotRun, "validate: --schema takes no files"}
	}
	if _, err := out.Write(configs.Schema()); err != nil {
		return exitError{exitNotRun, fmt.Sprintf("validate: %v", err)}
	}
	return nil
}

// validate checks the configs that the arguments name.
func validate(out, errs io.Writer, args []string) error {
	files, err := configFiles(args)
	if err != nil {
		return err
	}
	bad := 0
	var owners configs.Owners
	for _, file := range files {
		c, err := configs.Load(file, os.LookupEnv)
		if err == nil {
			err = owners.Claim(file, c)
		}
		if err != nil {
			bad++
			fmt.Fprintln(errs, err)
			continue
		}
		if _, err := fmt.Fprintf(out, "%s: ok (%s)\n", file, describe(c)); err != nil {
			return exitError{exitNotRun, fmt.Sprintf("validate: %v", err)}
		}
	}
	switch {
	case bad == 0:
		return nil
	case len(files) == 1:
		return exitError{exitNotRun, ""}
	}
	return exitError{exitNotRun, fmt.Sprintf("%d of %d configs are not good", bad, len(files))}
}

// describe says in a few words what a config pulls by.
func describe(c *configs.Config) string {
	size := "no page size"
	if s := c.Pages.Size; s.Start > 0 {
		size = fmt.Sprintf("size %d", s.Start)
	}
	words := []string{"style " + c.Pages.Style, size, describeTotal(c.Total)}
	if c.ForEach != nil {
		words = append(words, describeList(c.ForEach))
	}
	if c.Incremental != nil {
		words = append(words, "incremental by "+c.Incremental.Param)
	}
	return strings.Join(words, ", ")
}

func describeList(f *configs.ForEach) string {
	switch {
	case f.Lines != "":
		return "for each " + f.As + " of " + f.Lines
	case f.Pull != "":
		return "for each " + f.As + " of the items of " + f.Pull
	}
	return fmt.Sprintf("for each %s of %d", f.As, len(f.Values))
}

func describeTotal(t configs.Total) string {
	switch {
	case t.None:
		return "total none"
	case t.URL != "":
		return "total by a count request"
	case t.Header != "":
		return "total in header " + t.Header
	case t.Path != "":
		return "total at " + string(t.Path)
	default:
		return "no total"
	}
}
