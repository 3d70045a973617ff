package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/rdmawatch/rdmawatch/alerts"
	"github.com/rdmawatch/rdmawatch/alerts/engine"
	"github.com/rdmawatch/rdmawatch/alerts/replay"
)

func addReplay(app *kingpin.Application, commands map[string]func(stdout, stderr io.Writer) error) {
	cmd := app.Command("replay", "Play scenarios on a virtual clock through collectors and rules, and check what they expect.")
	files := cmd.Arg("scenario", "Scenario files.").Required().ExistingFiles()
	only := cmd.Flag("case", "Play only the case of this name.").String()
	rules := addRuleFlags(cmd)
	commands[cmd.FullCommand()] = func(stdout, _ io.Writer) error {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		setup, err := rules.setup()
		if err != nil {
			return err
		}
		failed := 0
		for _, file := range *files {
			n, err := playFile(ctx, stdout, file, *only, setup)
			if err != nil {
				return err
			}
			failed += n
		}
		if failed > 0 {
			return fmt.Errorf("%d cases did not go as expected", failed)
		}
		return nil
	}
}

// setup is what a replay runs with: the rules that the daemon would evaluate.
func (f *ruleFlags) setup() (replay.Setup, error) {
	groups, err := f.groups()
	if err != nil {
		return replay.Setup{}, err
	}
	inhibitions, err := alerts.Inhibitions()
	if err != nil {
		return replay.Setup{}, err
	}
	return replay.Setup{Groups: engine.NodeScope(groups), Inhibitions: inhibitions}, nil
}

// playFile plays the cases of a file and returns how many failed.
func playFile(ctx context.Context, w io.Writer, file, only string, setup replay.Setup) (failed int, err error) {
	scenario, err := replay.Load(file)
	if err != nil {
		return 0, err
	}
	for i := range scenario.Cases {
		c := &scenario.Cases[i]
		if only != "" && c.Name != only {
			continue
		}
		begin := time.Now()
		result, err := replay.Run(ctx, c, setup)
		if err != nil {
			return failed, fmt.Errorf("%s: %w", file, err)
		}
		fmt.Fprintf(w, "%s, case %s: %s played in %s\n", file, c.Name, c.Duration, time.Since(begin).Round(time.Millisecond))
		result.Print(w)
		wrong := result.Judge()
		for _, sentence := range wrong {
			fmt.Fprintf(w, "  NOT AS EXPECTED: %s\n", sentence)
		}
		if len(wrong) > 0 {
			failed++
		} else {
			fmt.Fprintln(w, "  as expected")
		}
	}
	return failed, nil
}
