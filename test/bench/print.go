package main

import (
	"fmt"
	"slices"
)

// print writes what was measured, and ratios to the first exporter: the median
// of those of each round, with the least and the largest.
func print(what string, results []result) {
	fmt.Printf("\n## %s\n\n", what)
	fmt.Println("| exporter | series | bytes | CPU a scrape | wall p50 | read calls | resident |")
	fmt.Println("|---|---|---|---|---|---|---|")
	for _, r := range results {
		fmt.Printf("| %s | %d | %d | %.2f ms | %.2f ms | %.0f | %.1f MiB |\n", r.name, r.series, r.bytes,
			1e3*median(r.cpu), 1e3*median(r.wall), r.reads, r.resident/(1<<20))
	}
	first := results[0]
	fmt.Printf("\n| ratio to %s | CPU | CPU a series | wall p50 | read calls | resident |\n", first.name)
	fmt.Println("|---|---|---|---|---|---|")
	for _, r := range results[1:] {
		var rounds []float64
		for i := range r.cpu {
			rounds = append(rounds, r.cpu[i]/first.cpu[i])
		}
		cpu := median(rounds)
		fmt.Printf("| %s | %.3f (%.3f to %.3f) | %.3f | %.3f | %.3f | %.3f |\n", r.name, cpu, slices.Min(rounds), slices.Max(rounds),
			cpu*float64(first.series)/float64(r.series), median(r.wall)/median(first.wall), r.reads/first.reads, r.resident/first.resident)
	}
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
