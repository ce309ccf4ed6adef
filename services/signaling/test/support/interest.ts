/**
 * Which subscriptions the other pods' servers know. NATS knows a subscription at once in its own servers; the servers of another group learn of it
 * later, and until then send nothing.
 */
export class Interest {
  readonly #knownAt = new Map<string, number>();

  /** The subscriber's own group knows it from `nearAt`, all others from `farAt`. */
  subscribe(pod: string, subject: string, { nearAt, farAt }: { nearAt: number; farAt: number }): void {
    this.#knownAt.set(`${pod} ${subject} near`, nearAt);
    this.#knownAt.set(`${pod} ${subject} far`, farAt);
  }

  unsubscribe(pod: string, subject: string): void {
    this.#knownAt.delete(`${pod} ${subject} near`);
    this.#knownAt.delete(`${pod} ${subject} far`);
  }

  isKnown(pod: string, subject: string, distance: 'near' | 'far', now: number): boolean {
    return now >= (this.#knownAt.get(`${pod} ${subject} ${distance}`) ?? Infinity);
  }
}
