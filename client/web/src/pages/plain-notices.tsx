/** The pages without a call: wrong addresses and unsupported browsers. */
import { go } from '../navigate.ts';
import { newRoom } from './new-room.ts';
import { Notice } from './notice.tsx';

export function NotFound() {
  return (
    <Notice icon="info" mood="closed" title="Page not found" testid="page-not-found">
      <p>This address does not exist. A part of it may be missing.</p>
      <NextSteps />
    </Notice>
  );
}

export function InvalidLink() {
  return (
    <Notice icon="link" mood="closed" title="This link is not complete" testid="page-invalid-link">
      <p>A part of it seems to be missing. Ask for it again, or copy the whole link.</p>
      <NextSteps />
    </Notice>
  );
}

export function Unsupported() {
  return (
    <Notice icon="warning" mood="fault" title="This browser cannot make calls" testid="page-unsupported">
      <p>It does not support WebRTC. Open this link in a recent Chrome, Edge, Firefox or Safari.</p>
    </Notice>
  );
}

function NextSteps() {
  return (
    <div class="actions">
      <button type="button" class="button primary" onClick={() => go('/')}>
        Start page
      </button>
      <button type="button" class="button" onClick={() => void newRoom()}>
        New room
      </button>
    </div>
  );
}
