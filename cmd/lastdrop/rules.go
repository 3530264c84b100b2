package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lastdrop/judge"
	"lastdrop/judge/reconcile"
)

// newRulesCmd makes `lastdrop rules`: the one table of all rules.
func newRulesCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "rules [ID...]",
		Short: "Print every rule that can stand in the evidence",
		Long:  "Rules prints the table of rules: TR… are the judge's, about one answer; RC… are a run's own.",
		RunE: func(cmd *cobra.Command, args []string) error {
			rules := slices.Concat(judge.RuleTable, reconcile.Table)
			picked, err := pick(rules, args)
			if err != nil {
				return err
			}
			if asJSON {
				return printRulesJSON(cmd.OutOrStdout(), picked)
			}
			return printRules(cmd.OutOrStdout(), picked)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a rule, a line each")
	return cmd
}

func pick(rules []judge.RuleDoc, ids []string) ([]judge.RuleDoc, error) {
	if len(ids) == 0 {
		return rules, nil
	}
	var out []judge.RuleDoc
	for _, id := range ids {
		i := slices.IndexFunc(rules, func(r judge.RuleDoc) bool { return strings.EqualFold(r.ID, id) })
		if i < 0 {
			return nil, exitError{exitNotRun, fmt.Sprintf("no rule %q; `lastdrop rules` lists them all", id)}
		}
		out = append(out, rules[i])
	}
	return out, nil
}

func printRules(w io.Writer, rules []judge.RuleDoc) error {
	for _, r := range rules {
		var words []string
		for _, v := range r.Verdicts {
			words = append(words, v.String())
		}
		if _, err := fmt.Fprintf(w, "%s  %-8s  %s\n", r.ID, r.Layer, strings.Join(words, " or ")); err != nil {
			return err
		}
		for _, l := range wrap(r.Title+": "+r.Doc, 92) {
			fmt.Fprintf(w, "       %s\n", l)
		}
	}
	return nil
}

func printRulesJSON(w io.Writer, rules []judge.RuleDoc) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, r := range rules {
		if err := enc.Encode(struct {
			ID       string          `json:"id"`
			Layer    string          `json:"layer"`
			Verdicts []judge.Verdict `json:"verdicts"`
			Title    string          `json:"title"`
			Doc      string          `json:"doc"`
		}{r.ID, string(r.Layer), r.Verdicts, r.Title, r.Doc}); err != nil {
			return err
		}
	}
	return nil
}

// wrap breaks a text into lines of at most n characters, at spaces.
func wrap(text string, n int) []string {
	var out []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > n {
			out = append(out, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(out, line)
}
