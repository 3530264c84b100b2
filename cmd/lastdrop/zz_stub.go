package main

import "github.com/spf13/cobra"

func newValidateCmd() *cobra.Command { return &cobra.Command{Use: "newValidateCmd"} }
func newRunsCmd() *cobra.Command     { return &cobra.Command{Use: "newRunsCmd"} }
func newPagesCmd() *cobra.Command    { return &cobra.Command{Use: "newPagesCmd"} }
