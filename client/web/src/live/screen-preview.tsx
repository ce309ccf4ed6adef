import { Icon } from '../design/icon.tsx';
import { Video } from '../design/video.tsx';
import type { LocalMedia } from '../media/local-media.ts';

export interface ScreenPreviewProps {
  readonly screen: MediaStream;
  readonly media: LocalMedia;
}

/** The published screen in place of the camera, with the switch of the microphone. */
export function ScreenPreview({ screen, media }: ScreenPreviewProps) {
  const { status } = media.microphone.value;
  const on = status === 'live' && !media.muted.value;
  return (
    <div class="preview" data-testid="preview">
      <Video stream={screen} fit="contain" label="Your screen" />
      <div class="preview-bar">
        <span />
        <div class="preview-switches">
          <button
            type="button"
            class={`round${on ? '' : ' off'}`}
            aria-pressed={on}
            aria-busy={status === 'opening'}
            aria-label="Microphone"
            title={`Microphone is ${on ? 'on' : 'off'}`}
            data-testid="prejoin-microphone"
            onClick={() => void media.toggleMicrophone()}
          >
            <Icon name={on ? 'mic' : 'mic-off'} />
          </button>
        </div>
      </div>
    </div>
  );
}
