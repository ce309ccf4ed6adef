import { LevelMeter } from '../design/level-meter.tsx';
import type { LocalMedia } from '../media/local-media.ts';

/** How loud the user's microphone is; nothing while there is none. */
export function MicrophoneLevel({ media }: { readonly media: LocalMedia }) {
  const microphone = media.microphone.value;
  if (microphone.status !== 'live') return null;
  return (
    <div class="setting-level">
      <span class="soft small">{media.muted.value ? 'You are muted' : 'Say something'}</span>
      <LevelMeter track={microphone.track} muted={media.muted.value} />
    </div>
  );
}
