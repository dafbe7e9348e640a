// How many connections a port has and may have: in total, and by remote address. It closes nothing itself.
import type { AddressCounts } from './address-counts.ts';

export interface ConnectionSettings {
  readonly connectionsMax: number;
  /** null: an address may have as many as there are. */
  readonly addresses: AddressCounts | null;
}

export class Connections {
  open = 0;
  /** Since the start. */
  refused = 0;
  #settings: ConnectionSettings;

  constructor(settings: ConnectionSettings) {
    this.#settings = settings;
  }

  /** Counts one more. False: it must be closed, which counts it off again. */
  opened(remoteAddress: () => ArrayBuffer): boolean {
    this.open += 1;
    const { connectionsMax, addresses } = this.#settings;
    const hasRoom = this.open <= connectionsMax && (addresses?.add(new Uint8Array(remoteAddress())) ?? true);
    if (!hasRoom) this.refused += 1;
    return hasRoom;
  }

  closed(): void {
    this.open -= 1;
  }
}
