// The resources of an admitted Run: slot, quota reservation, memory, files. States: open (resources may be attached) →
// released (all resources were released in reverse order).

/** Releases one resource. A failure is a fault of the service; the other resources are released nevertheless. */
export type ReleaseResource = () => void | Promise<void>;

/** One resource of a lease. */
export interface LeasedResource {
  /**
   * Releases the resource before the others. Idempotent. Returns a promise only if releasing takes time, which is rare.
   */
  release(): void | Promise<void>;
  /** Removes the resource from the lease without releasing it: it now has another owner. */
  forget(): void;
}

export class Lease {
  #held: LeaseEntry[] = [];
  #released = false;
  /** Releases that are still in progress. */
  #pending: Promise<void> | undefined;

  get released(): boolean {
    return this.#released;
  }

  /**
   * Attaches an acquired resource. If the lease is already released, the resource is released immediately, so that a
   * resource acquired during an await cannot be lost.
   */
  hold(release: ReleaseResource): LeasedResource {
    const resource = new LeaseEntry(release);
    if (!this.#released) this.#held.push(resource);
    else this.#pending = together([this.#pending, later(resource)]);
    return resource;
  }

  /**
   * Releases everything, last acquired first. Returns a promise only if that takes time. Idempotent: a second call
   * waits for the first. Rejects with an AggregateError if some resources could not be released, after all others were.
   */
  release(): void | Promise<void> {
    if (!this.#released) {
      this.#released = true;
      this.#pending = this.#releaseAll([]);
    }
    return this.#pending;
  }

  #releaseAll(faults: unknown[]): Promise<void> | undefined {
    for (let resource = this.#held.pop(); resource !== undefined; resource = this.#held.pop()) {
      try {
        const pending = resource.release();
        if (pending instanceof Promise) {
          return pending.catch((fault) => void faults.push(fault)).then(() => this.#releaseAll(faults));
        }
      } catch (fault) {
        faults.push(fault);
      }
    }
    return faults.length > 0 ? Promise.reject(aggregateOf(faults)) : undefined;
  }
}

class LeaseEntry implements LeasedResource {
  /** null once the resource has been released or forgotten. */
  #release: ReleaseResource | null;

  constructor(release: ReleaseResource) {
    this.#release = release;
  }

  release(): void | Promise<void> {
    const release = this.#release;
    this.#release = null;
    return release?.();
  }

  forget(): void {
    this.#release = null;
  }
}

async function later(resource: LeasedResource): Promise<void> {
  await resource.release();
}

async function together(works: readonly (Promise<void> | undefined)[]): Promise<void> {
  const results = await Promise.allSettled(works);
  const faults = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  if (faults.length > 0) throw aggregateOf(faults);
}

function aggregateOf(faults: readonly unknown[]): AggregateError {
  return new AggregateError(faults, 'a lease could not release all its resources');
}
