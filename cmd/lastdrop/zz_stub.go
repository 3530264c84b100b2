package main

import "github.com/spf13/cobra"

func newRunsCmd() *cobra.Command  { return &cobra.Command{Use: "newRunsCmd"} }
func newPagesCmd() *cobra.Command { return &cobra.Command{Use: "newPagesCmd"} }
