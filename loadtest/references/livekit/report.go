package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

type steady struct {
	Seconds   float64 `json:"seconds"`
	Delivered uint64  `json:"delivered"`
	Bytes     uint64  `json:"bytes"`
}

type latency struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
}

type generatorUse struct {
	Share float64 `json:"share"`
}

type serverUse struct {
	CPUSeconds float64 `json:"cpuSeconds"`
	ResidentKb uint64  `json:"residentKb"`
}

// See loadtest/src/media/outcome.ts. Where packets were given up, that counts as a group that was skipped; freezes are not counted.
type report struct {
	Steady        steady       `json:"steady"`
	LatencyMs     latency      `json:"latencyMs"`
	Generator     generatorUse `json:"generator"`
	Server        serverUse    `json:"server"`
	Expected      uint64       `json:"expected"`
	Delivered     uint64       `json:"delivered"`
	Missing       uint64       `json:"missing"`
	Duplicated    int          `json:"duplicated"`
	OutOfOrder    int          `json:"outOfOrder"`
	Corrupt       int          `json:"corrupt"`
	Extra         int          `json:"extra"`
	SkippedGroups int          `json:"skippedGroups"`
	Freezes       int          `json:"freezes"`
	Closed        int64        `json:"closed"`
}

type snapshot struct {
	at               time.Time
	delivered, bytes uint64
	ownCPU           float64
	server           serverUse
}

func (p *plan) snapshot(l *load) (snapshot, error) {
	now := snapshot{at: time.Now()}
	for _, one := range l.all() {
		now.delivered += one.delivered.Load()
		now.bytes += one.bytes.Load()
	}
	var err error
	if now.ownCPU, err = cpuSeconds(os.Getpid()); err != nil {
		return now, err
	}
	if now.server.CPUSeconds, err = cpuSeconds(p.pid); err != nil {
		return now, err
	}
	now.server.ResidentKb, err = residentKb(p.pid)
	return now, err
}

// Called once media has ended.
func (l *load) report(from, to snapshot) *report {
	taken := to.at.Sub(from.at).Seconds()
	r := &report{
		Steady:    steady{taken, to.delivered - from.delivered, to.bytes - from.bytes},
		Generator: generatorUse{(to.ownCPU - from.ownCPU) / taken},
		Server:    serverUse{to.server.CPUSeconds - from.server.CPUSeconds, to.server.ResidentKb},
		Closed:    l.closed.Load(),
	}
	all := l.all()
	var delaysMs []float64
	for _, one := range all {
		delivered := one.delivered.Load()
		// Of a publisher whose first frame came late, that is not among these.
		expected := uint64(one.publisher.sent.Load() - one.first)
		r.Expected += expected
		r.Delivered += delivered
		r.Missing += expected - min(expected, delivered)
		r.Duplicated += one.duplicate
		r.OutOfOrder += one.late
		r.Corrupt += one.corrupt
		r.SkippedGroups += one.gaps
		delaysMs = append(delaysMs, one.delaysMs...)
	}
	// Who received nothing at all.
	for range l.expected - len(all) {
		r.Missing++
		r.Expected++
	}
	slices.Sort(delaysMs)
	if count := len(delaysMs); count > 0 {
		r.LatencyMs = latency{delaysMs[count/2], delaysMs[count*99/100]}
	}
	return r
}

// Of all threads that live, proc(5).
func cpuSeconds(pid int) (float64, error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(threads) == 0 {
		return 0, fmt.Errorf("process %d has no threads", pid)
	}
	var nanoseconds float64
	for _, thread := range threads {
		text, err := os.ReadFile(thread)
		if err != nil {
			// It has ended.
			continue
		}
		running, err := strconv.ParseFloat(strings.Fields(string(text))[0], 64)
		if err != nil {
			return 0, err
		}
		nanoseconds += running
	}
	if nanoseconds == 0 {
		return 0, fmt.Errorf("the processor time of process %d is not known", pid)
	}
	return nanoseconds / 1e9, nil
}

func residentKb(pid int) (uint64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if rest, found := strings.CutPrefix(line, "VmRSS:"); found {
			return strconv.ParseUint(strings.Fields(rest)[0], 10, 64)
		}
	}
	return 0, fmt.Errorf("process %d has no memory", pid)
}
