package main

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	lksdk "github.com/livekit/server-sdk-go/v2"
	"github.com/pion/webrtc/v4"
	"github.com/pion/webrtc/v4/pkg/media"
)

const roomName = "load"

// So many participants connect at a time.
const connecting = 8

// One core has 300 handshakes to do.
const connectTimeout = 30 * time.Second

type publisher struct {
	track *lksdk.LocalTrack
	// Frames that it has sent.
	sent atomic.Uint32
}

// All participants of a run.
type load struct {
	source     *source
	publishers []*publisher
	// Those who watch, and what each of them receives: a stream for each publisher but itself.
	expected int
	measures atomic.Bool
	closed   atomic.Int64
	ending   atomic.Bool
	stop     chan struct{}

	mutex     sync.Mutex
	rooms     []*lksdk.Room
	receivers []*receiver
}

func (p *plan) connect(source *source) (*load, error) {
	publishers, watchers := p.publishers, p.watch
	if p.room > 0 {
		publishers, watchers = p.room, 0
	}
	l := &load{source: source, stop: make(chan struct{}), expected: publishers * watchers}
	if p.room > 0 {
		l.expected = p.room * (p.room - 1)
	}
	for range publishers {
		track, err := lksdk.NewLocalTrack(source.codec)
		if err != nil {
			return nil, err
		}
		l.publishers = append(l.publishers, &publisher{track: track})
	}
	failures := make(chan error, publishers+watchers)
	slots := make(chan struct{}, connecting)
	for at := range publishers + watchers {
		go func() {
			slots <- struct{}{}
			failures <- l.join(p, at, at >= publishers || p.room > 0)
			<-slots
		}()
	}
	for range publishers + watchers {
		if err := <-failures; err != nil {
			return nil, err
		}
	}
	// Their groups begin at different times.
	now := time.Now()
	for at, one := range l.publishers {
		go l.send(one, now.Add(source.group*time.Duration(at)/time.Duration(publishers)))
	}
	return l, nil
}

// The first participants publish.
func (l *load) join(p *plan, at int, watches bool) error {
	callback := &lksdk.RoomCallback{
		OnDisconnectedWithReason: func(lksdk.DisconnectionReason) {
			if !l.ending.Load() {
				l.closed.Add(1)
			}
		},
		ParticipantCallback: lksdk.ParticipantCallback{
			OnTrackSubscribed: func(track *webrtc.TrackRemote, _ *lksdk.RemoteTrackPublication, from *lksdk.RemoteParticipant) {
				l.receive(track, from.Identity())
			},
		},
	}
	identity := fmt.Sprintf("publisher-%d", at)
	if at >= len(l.publishers) {
		identity = fmt.Sprintf("watcher-%d", at)
	}
	who := lksdk.ConnectInfo{APIKey: p.key, APISecret: p.secret, RoomName: roomName, ParticipantIdentity: identity}
	room, err := lksdk.ConnectToRoom(p.url, who, callback, lksdk.WithAutoSubscribe(watches), lksdk.WithConnectTimeout(connectTimeout))
	if err != nil {
		return fmt.Errorf("%s: %w", identity, err)
	}
	l.mutex.Lock()
	l.rooms = append(l.rooms, room)
	l.mutex.Unlock()
	if at >= len(l.publishers) {
		return nil
	}
	_, err = room.LocalParticipant.PublishTrack(l.publishers[at].track, &lksdk.TrackPublicationOptions{
		Name: "media", VideoWidth: 1280, VideoHeight: 720,
	})
	return err
}

func (l *load) receive(track *webrtc.TrackRemote, from string) {
	var at int
	if _, err := fmt.Sscanf(from, "publisher-%d", &at); err != nil {
		return
	}
	isVideo := strings.EqualFold(track.Codec().MimeType, webrtc.MimeTypeH264)
	one := &receiver{load: l, publisher: l.publishers[at], isVideo: isVideo}
	l.mutex.Lock()
	l.receivers = append(l.receivers, one)
	l.mutex.Unlock()
	go one.read(track)
}

// Each frame at its time, whatever the one before took.
func (l *load) send(one *publisher, began time.Time) {
	for index := uint32(0); ; index++ {
		select {
		case <-l.stop:
			return
		case <-time.After(time.Until(began.Add(time.Duration(index) * l.source.interval))):
		}
		sample := media.Sample{Data: l.source.stamped(index, time.Now()), Duration: l.source.interval}
		if one.track.WriteSample(sample, nil) != nil {
			l.closed.Add(1)
			return
		}
		one.sent.Store(index + 1)
	}
}

func (l *load) stopSending() { close(l.stop) }

func (l *load) all() []*receiver {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return append([]*receiver(nil), l.receivers...)
}

func (l *load) allReceive() bool {
	receiving := 0
	for _, one := range l.all() {
		if one.delivered.Load() > 0 {
			receiving++
		}
	}
	return receiving >= l.expected
}

func (l *load) close() {
	l.ending.Store(true)
	for _, room := range l.rooms {
		room.Disconnect()
	}
}
