/** The security headers of every response. */
import type { IncomingHttpHeaders } from 'node:http';
import { CONTENT_POLICY } from '../src/shared-pages/content/content-policy.ts';

export interface HeaderOptions {
  /** Sources that may embed the application in a frame, for example `https://intranet.example`; empty: none. */
  readonly frameAncestors: readonly string[];
  /** Further sources that the application may connect to, if the API has another origin. */
  readonly connect: readonly string[];
}

/** A host with an optional port, so that nothing else of a forged Host header reaches the policy. */
const HOST = /^[A-Za-z0-9.-]+(?::\d{1,5})?$|^\[[0-9a-fA-F:]+\](?::\d{1,5})?$/;

export function securityHeaders(
  headers: IncomingHttpHeaders,
  options: HeaderOptions,
): Record<string, string> {
  return {
    'content-security-policy': contentSecurityPolicy(headers.host, options),
    'permissions-policy':
      'camera=(self), microphone=(self), display-capture=(self), speaker-selection=(self), fullscreen=(self), geolocation=(), payment=(), usb=()',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  };
}

/** The policy of the outer frame around content of visitors. Only the application may embed it, and it shows nothing alone. */
export const framePolicy = ({ frameAncestors }: HeaderOptions): Record<string, string> => ({
  'content-security-policy': `${CONTENT_POLICY}; frame-ancestors ${["'self'", ...frameAncestors].join(' ')}`,
});

function contentSecurityPolicy(host: string | undefined, { frameAncestors, connect }: HeaderOptions): string {
  // `'self'` includes the WebSocket of the same host in CSP 3; Safari before 16 requires it explicitly.
  const sockets = host !== undefined && HOST.test(host) ? [`wss://${host}`, `ws://${host}`] : [];
  const policy: Record<string, readonly string[]> = {
    'default-src': ["'none'"],
    'script-src': ["'self'"],
    'style-src': ["'self'"],
    'img-src': ["'self'", 'data:', 'blob:'],
    'font-src': ["'self'"],
    // The frame around content of visitors; its own policy is `framePolicy`.
    'frame-src': ["'self'"],
    'connect-src': ["'self'", ...sockets, ...connect],
    'media-src': ["'self'", 'blob:'],
    'worker-src': ["'self'"],
    'manifest-src': ["'self'"],
    'base-uri': ["'none'"],
    'form-action': ["'self'"],
    'frame-ancestors': frameAncestors.length > 0 ? frameAncestors : ["'none'"],
  };
  return Object.entries(policy)
    .map(([name, sources]) => `${name} ${sources.join(' ')}`)
    .join('; ');
}
