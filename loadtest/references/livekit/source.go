package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/pion/webrtc/v4"
)

// The last bytes of a frame: when it was sent, in Unix nanoseconds, and its index, in hexadecimal digits, among which no start code of H.264 can
// occur. No watcher decodes the frame.
const stampBytes = 16 + 8

var startCode = []byte{0, 0, 0, 1}

// Frames that a publisher sends repeatedly.
type source struct {
	frames   [][]byte
	interval time.Duration
	// From one frame that needs no other to the next.
	group time.Duration
	codec webrtc.RTPCodecCapability
}

// The same sizes, and as many packets a second, as those of `parley-load media --audio`.
func audioSource() *source {
	const frames, least = 500, 80
	random := rand.New(rand.NewPCG(1, 1))
	made := make([][]byte, frames)
	for index := range made {
		frame := make([]byte, least+index*37%(least+1))
		for at := range frame {
			frame[at] = byte(random.Uint32())
		}
		made[index] = frame
	}
	codec := webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeOpus, ClockRate: 48_000, Channels: 2}
	return &source{frames: made, interval: 20 * time.Millisecond, group: time.Second, codec: codec}
}

// The frames of a file, each as the payload format of RTP returns it: with start codes of four bytes, without access unit delimiters.
func videoSource(file string) (*source, error) {
	const delimiter, slice, idrSlice = 9, 1, 5
	ffmpeg := exec.Command("ffmpeg", "-v", "error", "-nostdin", "-i", file, "-map", "0:v:0", "-c", "copy", "-bsf:v", "h264_mp4toannexb", "-f", "h264", "-")
	ffmpeg.Stderr = os.Stderr
	data, err := ffmpeg.Output()
	if err != nil {
		return nil, err
	}
	codec := webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeH264, ClockRate: 90_000}
	made := &source{interval: time.Second / 30, codec: codec}
	var frame []byte
	for _, unit := range bytes.Split(bytes.ReplaceAll(data, startCode, startCode[1:]), startCode[1:]) {
		if len(unit) == 0 || unit[0]&0x1f == delimiter {
			continue
		}
		frame = append(append(frame, startCode...), unit...)
		if kind := unit[0] & 0x1f; kind == slice || kind == idrSlice {
			if kind == idrSlice && made.group == 0 {
				made.group = time.Duration(len(made.frames)) * made.interval
			}
			made.frames = append(made.frames, frame)
			frame = nil
			if len(unit) <= stampBytes {
				return nil, fmt.Errorf("%s has a frame of %d bytes", file, len(unit))
			}
		}
	}
	if len(made.frames) == 0 {
		return nil, errors.New(file + " has no frame of H.264")
	}
	return made, nil
}

func (s *source) frame(index uint32) []byte { return s.frames[int(index)%len(s.frames)] }

// The frame of this index with its stamp.
func (s *source) stamped(index uint32, now time.Time) []byte {
	frame := bytes.Clone(s.frame(index))
	copy(frame[len(frame)-stampBytes:], fmt.Sprintf("%016x%08x", now.UnixNano(), index))
	return frame
}

// When the frame was sent, and its index; not ok where it differs from the one that was sent.
func (s *source) check(frame []byte) (sent time.Time, index uint32, ok bool) {
	if len(frame) < stampBytes {
		return time.Time{}, 0, false
	}
	body, stamp := frame[:len(frame)-stampBytes], string(frame[len(frame)-stampBytes:])
	nanoseconds, err := strconv.ParseInt(stamp[:16], 16, 64)
	if err != nil {
		return time.Time{}, 0, false
	}
	number, err := strconv.ParseUint(stamp[16:], 16, 32)
	if err != nil {
		return time.Time{}, 0, false
	}
	index = uint32(number)
	original := s.frame(index)
	return time.Unix(0, nanoseconds), index, bytes.Equal(body, original[:len(original)-stampBytes])
}
