/** `/live`: the choice of a broadcast to watch or to publish. */
import { useState } from 'preact/hooks';
import { Icon } from '../design/icon.tsx';
import { go } from '../navigate.ts';
import { usePageTitle } from '../pages/page-title.ts';
import { SiteHead } from '../pages/site-head.tsx';
import { AddressForm } from '../streams/address-form.tsx';
import '../streams/streams-page.css';
import { nameOfText, publishPath, watchPath } from './live-route.ts';
import './live.css';

const EXAMPLE = 'spring-concert';

export function LivePage({ problem }: { readonly problem: boolean }) {
  const heading = usePageTitle('Live · Parley');
  const [text, setText] = useState('');
  const [wrong, setWrong] = useState(problem);
  const name = nameOfText(text);
  const open = (path: (name: string) => string): void => {
    if (name === undefined) setWrong(true);
    else go(path(name));
  };
  return (
    <div class="site" data-testid="page-live-choice">
      <SiteHead />
      <main class="site-main streams-main">
        <section class="streams-watch">
          <h1 ref={heading} tabIndex={-1}>
            Live, for everyone
          </h1>
          <p class="hero-text">
            One person publishes a camera or a screen, and any number of people watch. Both sides use the same
            name.
          </p>
          <AddressForm
            label="Name or link"
            id="name"
            example={EXAMPLE}
            text={text}
            problem={
              wrong
                ? 'This is not the name of a broadcast. A name is one word like spring-concert, without spaces and slashes.'
                : null
            }
            onText={(changed) => {
              setText(changed);
              setWrong(false);
            }}
            onSubmit={() => open(watchPath)}
          />
        </section>
        <section class="streams-send">
          <h2>Publish one</h2>
          <ol class="live-steps">
            <li>Choose a name, and enter it on this page.</li>
            <li>Select your camera or your screen, and go live.</li>
            <li>Send the link to the people who should watch.</li>
          </ol>
          <button
            type="button"
            class="button"
            data-testid="publish"
            disabled={text.trim() === ''}
            onClick={() => open(publishPath)}
          >
            <Icon name="camera" />
            {name === undefined ? 'Publish' : `Publish ${name}`}
          </button>
        </section>
      </main>
    </div>
  );
}
