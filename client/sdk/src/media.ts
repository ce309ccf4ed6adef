/** Types of media that the mesh and the relays share. */

/** The role of a track. It is signalled; receivers do not derive it from order or labels. */
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
