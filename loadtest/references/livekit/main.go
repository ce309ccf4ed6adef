// Command livekit-load publishes media to a LiveKit server and watches it, and writes the report that `make bench-media` reads: the fields of
// `parley-load media`. It takes the same test video and the same packets of audio, and compares each byte that arrives.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/livekit/protocol/logger"
	lksdk "github.com/livekit/server-sdk-go/v2"
)

// How long a watcher may take to receive a first frame of each publisher.
const firstFramesTimeout = 30 * time.Second

// What is on its way at the end of the measured part arrives within this time.
const drain = time.Second

type plan struct {
	url, key, secret  string
	pid               int
	publishers, watch int
	room              int
	audio             bool
	video             string
	warmUp, seconds   float64
}

func main() {
	var p plan
	flag.StringVar(&p.url, "url", "", "the server: ws://HOST:PORT")
	flag.StringVar(&p.key, "key", "", "the name of its API key")
	flag.StringVar(&p.secret, "secret", "", "its API key")
	flag.IntVar(&p.pid, "pid", 0, "its process, whose processor time and memory to report")
	flag.IntVar(&p.publishers, "publishers", 1, "how many publish")
	flag.IntVar(&p.watch, "watchers", 1, "how many watch all publishers")
	flag.IntVar(&p.room, "room", 0, "instead: how many publish, and watch all others")
	flag.BoolVar(&p.audio, "audio", false, "packets of audio instead of video")
	flag.StringVar(&p.video, "video", "", "a file of H.264, of 30 frames a second and one slice a frame")
	flag.Float64Var(&p.warmUp, "warm-up", 2, "seconds between the first frames and the measured part")
	flag.Float64Var(&p.seconds, "seconds", 6, "seconds of the measured part")
	flag.Parse()
	lksdk.SetLogger(logger.GetDiscardLogger())
	report, err := p.run()
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(report)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "livekit-load:", err)
		os.Exit(1)
	}
}

func (p *plan) run() (*report, error) {
	source, err := p.source()
	if err != nil {
		return nil, err
	}
	load, err := p.connect(source)
	if err != nil {
		return nil, err
	}
	defer load.close()
	end := time.Now().Add(firstFramesTimeout)
	for !load.allReceive() && time.Now().Before(end) {
		time.Sleep(20 * time.Millisecond)
	}
	time.Sleep(seconds(p.warmUp))
	load.measures.Store(true)
	from, err := p.snapshot(load)
	if err != nil {
		return nil, err
	}
	time.Sleep(seconds(p.seconds))
	load.measures.Store(false)
	to, err := p.snapshot(load)
	if err != nil {
		return nil, err
	}
	load.stopSending()
	time.Sleep(drain)
	return load.report(from, to), nil
}

func (p *plan) source() (*source, error) {
	if p.audio {
		return audioSource(), nil
	}
	return videoSource(p.video)
}

func seconds(of float64) time.Duration { return time.Duration(of * float64(time.Second)) }
