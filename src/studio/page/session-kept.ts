// Values of the page that survive a reload, in the storage of the tab. Contains sizes only, nothing of the sample but names of
// columns, and the browser deletes it when the tab is closed.
import { effect, type Signal, signal } from '@preact/signals';

/** A signal with the value that this tab kept last under a name, or with `first`. */
export function keptSignal<Value>(name: string, first: Value): Signal<Value> {
  const kept = signal(read(name) ?? first) as Signal<Value>;
  effect(() => write(name, kept.value));
  return kept;
}

function read(name: string): unknown {
  try {
    return JSON.parse(sessionStorage.getItem(name) ?? 'null');
  } catch {
    // A browser may forbid the storage.
    return null;
  }
}

function write(name: string, value: unknown): void {
  try {
    sessionStorage.setItem(name, JSON.stringify(value));
  } catch {
    // The page works without it.
  }
}
