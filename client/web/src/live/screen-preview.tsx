import { Video } from '../design/video.tsx';
import type { LocalMedia } from '../media/local-media.ts';
import { DeviceSwitch } from '../pages/camera-preview.tsx';

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
          <DeviceSwitch
            kind="microphone"
            on={on}
            busy={status === 'opening'}
            onToggle={() => void media.toggleMicrophone()}
          />
        </div>
      </div>
    </div>
  );
}
