import { mediaProblemText, type Subject, type Without } from '../text/media-problems.ts';
import { Icon } from '../design/icon.tsx';
import type { MediaProblem } from '../media/devices.ts';
import type { LocalMedia, Source } from '../media/local-media.ts';

interface MediaTroubleProps {
  readonly media: LocalMedia;
  readonly without?: Without;
}

/** Shows problems of the devices and what to do; a problem of both is shown once. */
export function MediaTrouble({ media, without }: MediaTroubleProps) {
  const camera = problemIn(media.camera.value);
  const microphone = problemIn(media.microphone.value);
  const trouble = (subject: Subject, problem: MediaProblem | null) => {
    if (problem === null) return null;
    const text = mediaProblemText(problem, subject, without);
    const again = (): void => void (subject === 'both' ? media.begin() : media.turnOn(subject));
    return (
      <div class="callout trouble" role="alert" data-testid={`trouble-${problem}`}>
        <Icon name="warning" />
        <div>
          <strong>{text.title}</strong>
          <p>{text.advice}</p>
          {text.again && (
            <button type="button" class="button" onClick={again}>
              Try again
            </button>
          )}
        </div>
      </div>
    );
  };
  if (camera === microphone) return trouble('both', camera);
  return (
    <>
      {trouble('microphone', microphone)}
      {trouble('camera', camera)}
    </>
  );
}

const problemIn = (source: Source) => (source.status === 'failed' ? source.problem : null);
