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
	"github.com/rdmawatch/rdmawatch/capture"
)

func addReplay(app *kingpin.Application, commands map[string]func(stdout, stderr io.Writer) error) {
	cmd := app.Command("replay", "Play scenarios or captures on a virtual clock through collectors and rules; of scenarios check what they expect.")
	files := cmd.Arg("file", "Scenarios (.yaml) or captures (.tar.gz).").Required().ExistingFiles()
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
			if capture.IsArchive(file) {
				if err := playCapture(ctx, stdout, file, setup); err != nil {
					return err
				}
				continue
			}
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

// playCapture plays a capture and prints what the alerts did.
func playCapture(ctx context.Context, w io.Writer, file string, setup replay.Setup) error {
	c, err := capture.Open(file)
	if err != nil {
		return err
	}
	defer c.Close()
	times := c.Times()
	result, err := replay.Play(ctx, replay.Recording{Dir: c.Dir(), Times: times, Advance: c.Advance}, setup)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if len(times) == 1 {
		fmt.Fprintf(w, "%s: one reading, in which nothing can have moved\n", file)
	} else {
		fmt.Fprintf(w, "%s: %d readings in %s\n", file, len(times), times[len(times)-1].Sub(times[0]))
	}
	result.Print(w)
	if len(result.Events) == 0 {
		fmt.Fprintln(w, "  no alert was pending or fired")
	}
	return nil
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
