package main

import (
	"bytes"
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
	first, next                    uint32
	corrupt, late, duplicate, gaps int
	delaysMs                       []float64
}

func (r *receiver) read(track *webrtc.TrackRemote) {
	packets := sequence{held: make(map[uint16]*rtp.Packet)}
	var video frame
	for {
		packet, _, err := track.ReadRTP()
		if err != nil {
			return
		}
		inOrder, gap := packets.push(packet)
		if gap {
			r.gaps++
			video.broken = true
		}
		for _, one := range inOrder {
			switch {
			case len(one.Payload) == 0 || isSilence(one.Payload):
				// A probe for the bandwidth, or what the server itself sends until media comes.
			case !r.isVideo:
				r.got(one.Payload)
			default:
				if whole := video.add(one); whole != nil {
					r.got(whole)
				}
			}
		}
	}
}

// A frame of Opus without sound, as LiveKit makes it.
func isSilence(payload []byte) bool {
	rest, found := bytes.CutPrefix(payload, []byte{0xf8, 0xff, 0xfe})
	return found && len(bytes.Trim(rest, "\x00")) == 0
}

// Packets in the order in which they were sent: some are sent again, and come late.
type sequence struct {
	began bool
	next  uint16
	held  map[uint16]*rtp.Packet
}

// With more than these behind it, a packet that is missing is given up.
const maxHeld = 128

// Those whose turn has come; and whether one before them was given up.
func (s *sequence) push(packet *rtp.Packet) (inOrder []*rtp.Packet, gap bool) {
	if !s.began {
		s.began, s.next = true, packet.SequenceNumber
	}
	// It came already, or was given up.
	if int16(packet.SequenceNumber-s.next) < 0 {
		return nil, false
	}
	s.held[packet.SequenceNumber] = packet
	for len(s.held) > maxHeld && s.held[s.next] == nil {
		s.next++
		gap = true
	}
	for s.held[s.next] != nil {
		inOrder = append(inOrder, s.held[s.next])
		delete(s.held, s.next)
		s.next++
	}
	return inOrder, gap
}

// A frame of which some packets have come.
type frame struct {
	format codecs.H264Packet
	bytes  []byte
	// Packets of it are missing.
	broken bool
}

// The frame, valid until the next call, when its last packet has come and none is missing.
func (f *frame) add(packet *rtp.Packet) []byte {
	part, err := f.format.Unmarshal(packet.Payload)
	f.bytes = append(f.bytes, part...)
	f.broken = f.broken || err != nil
	if !packet.Marker {
		return nil
	}
	whole, broken := f.bytes, f.broken
	f.bytes, f.broken = f.bytes[:0], false
	if broken {
		return nil
	}
	return whole
}

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
