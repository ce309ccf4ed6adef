/** A page that ignores what signaling sends it, as a hostile one may. */

/** While `parleyIgnoresMessages` is set, the page receives no event of its WebSockets. Runs in the page. */
export function mayIgnoreMessages(): void {
  const listens = (event: string): boolean =>
    !['message', 'close', 'error'].includes(event) || !Reflect.get(globalThis, 'parleyIgnoresMessages');
  const add = Reflect.get(WebSocket.prototype, 'addEventListener') as EventTarget['addEventListener'];
  WebSocket.prototype.addEventListener = function addEventListener(
    this: WebSocket,
    type: string,
    listener: EventListenerOrEventListenerObject | null,
    options?: boolean | AddEventListenerOptions,
  ): void {
    const listenUnlessIgnored = (event: Event): void => {
      if (!listens(type)) return;
      if (typeof listener === 'function') listener.call(this, event);
      else listener?.handleEvent(event);
    };
    add.call(this, type, listenUnlessIgnored, options);
  };
}
