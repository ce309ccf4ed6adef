/** Names and shapes of media that the mesh and the room through relays share. */

/** What a track carries. Receivers get it by name: they never guess it from order or labels. */
export type Role = 'microphone' | 'camera' | 'screen' | 'screen-audio';

/** What this participant sends; the caller owns and stops the tracks. */
export interface LocalMedia {
  readonly microphone: MediaStreamTrack | null;
  readonly camera: MediaStreamTrack | null;
  readonly screen: MediaStream | null;
}

/** In pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}
