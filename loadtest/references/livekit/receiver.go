package main

import (
	"sync/atomic"
	"time"

	"github.com/pion/rtp"
	"github.com/pion/rtp/codecs"
	"github.com/pion/webrtc/v4"
)

// What one watcher receives of one publisher. Its counts are of the whole run, but for delays.
type receiver struct {
	load      *load
	publisher *publisher
	isVideo   bool

	delivered, bytes atomic.Uint64
	// Those of the reading goroutine; read by others once media has ended.
	first, next              uint32
	corrupt, late, duplicate int
	delaysMs                 []float64
}

func (r *receiver) read(track *webrtc.TrackRemote) {
	var frame []byte
	var format codecs.H264Packet
	// Whether packets of the frame are missing.
	var broken bool
	var last uint16
	for started := false; ; started = true {
		packet, _, err := track.ReadRTP()
		if err != nil {
			return
		}
		// Probes for the bandwidth.
		if len(packet.Payload) == 0 {
			last = packet.SequenceNumber
			continue
		}
		broken = broken || started && packet.SequenceNumber != last+1
		last = packet.SequenceNumber
		if !r.isVideo {
			r.got(packet.Payload)
			continue
		}
		part, err := format.Unmarshal(packet.Payload)
		frame = append(frame, part...)
		broken = broken || err != nil
		if !isLast(packet) {
			continue
		}
		if !broken {
			r.got(frame)
		}
		frame, broken = frame[:0], false
	}
}

func isLast(packet *rtp.Packet) bool { return packet.Marker }

func (r *receiver) got(frame []byte) {
	now := time.Now()
	sent, index, ok := r.load.source.check(frame)
	if !ok {
		r.corrupt++
		return
	}
	switch {
	case r.delivered.Load() == 0:
		r.first = index
	case index == r.next-1:
		r.duplicate++
		return
	case index < r.next:
		r.late++
	}
	r.next = max(r.next, index+1)
	r.delivered.Add(1)
	r.bytes.Add(uint64(len(frame)))
	if r.load.measures.Load() {
		r.delaysMs = append(r.delaysMs, float64(now.Sub(sent).Nanoseconds())/1e6)
	}
}
