package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"lastdrop/configs"
)

// newPresetsCmd makes `lastdrop presets`: what is known of which APIs.
func newPresetsCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "presets [NAME...]",
		Short: "List the presets for known APIs, or print one",
		Long: `Presets lists what a config can name as its preset. With a NAME it prints the
keys that the preset fills in, and in its comments what that API can prove at
best, how much it hands out, and what to say beside it.`,
		Example: `  lastdrop presets
  lastdrop presets github-search`,
		RunE: func(cmd *cobra.Command, args []string) error {
			presets, err := pickPresets(args)
			if err != nil {
				return err
			}
			return printPresets(cmd.OutOrStdout(), presets, len(args) > 0, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a preset, a line each")
	return cmd
}

// pickPresets finds presets by their names, all without any.
func pickPresets(names []string) ([]configs.Preset, error) {
	if len(names) == 0 {
		return configs.Presets(), nil
	}
	var out []configs.Preset
	for _, name := range names {
		p, cure, ok := configs.FindPreset(name)
		if !ok {
			return nil, exitError{exitNotRun, fmt.Sprintf("no preset %q; %s", name, cure)}
		}
		out = append(out, p)
	}
	return out, nil
}

// printPresets prints a line each, or in whole what each fills in.
func printPresets(w io.Writer, presets []configs.Preset, whole, asJSON bool) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, p := range presets {
		var err error
		switch {
		case asJSON:
			err = enc.Encode(struct {
				Name    string `json:"name"`
				Summary string `json:"summary"`
				Text    string `json:"text"`
			}{p.Name, p.Summary, p.Text})
		case whole:
			_, err = io.WriteString(w, p.Text)
		default:
			_, err = fmt.Fprintf(w, "%-16s %s\n", p.Name, p.Summary)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
