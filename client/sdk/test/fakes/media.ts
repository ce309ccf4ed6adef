/** Tracks and streams without media in them. */
let count = 0;

export function fakeTrack(kind: 'audio' | 'video'): MediaStreamTrack {
  count += 1;
  return { kind, id: `track-${count}` } as MediaStreamTrack;
}

export function fakeStream(tracks: readonly MediaStreamTrack[] = []): MediaStream {
  count += 1;
  const held = [...tracks];
  const stream: Partial<MediaStream> = {
    id: `stream-${count}`,
    addTrack: (track) => void held.push(track),
    removeTrack: (track) => void held.splice(held.indexOf(track), 1),
    dispatchEvent: () => true,
    getTracks: () => [...held],
    getAudioTracks: () => held.filter(({ kind }) => kind === 'audio'),
    getVideoTracks: () => held.filter(({ kind }) => kind === 'video'),
  };
  return stream as MediaStream;
}
