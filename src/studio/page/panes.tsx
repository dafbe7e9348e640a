// The sizes of the panes, which the user changes by dragging or with arrow keys, and whether they are shown.
import { effect, type Signal, signal } from '@preact/signals';
import type { JSX } from 'preact';

export interface Pane {
  readonly name: string;
  readonly isShown: Signal<boolean>;
  /** In pixels. */
  readonly size: Signal<number>;
  readonly least: number;
  readonly most: number;
}

export interface Panes {
  readonly steps: Pane;
  readonly text: Pane;
}

/** Change of a size for one press of an arrow key, in pixels. */
const KEY_PIXELS = 24;

/** Part of the window's height that the text has at first. The table is the largest part of the page. */
const TEXT_SHARE = 0.3;

export function openPanes(): Panes {
  const text = Math.round(innerHeight * TEXT_SHARE);
  return {
    steps: openPane('Steps', { size: 260, least: 160, most: 600 }),
    text: openPane('Text', { size: text, least: 80, most: 1_200 }),
  };
}

/** A reload keeps the size of a pane, and whether it is shown. */
function openPane(name: string, { size, ...limits }: { readonly size: number } & Pick<Pane, 'least' | 'most'>): Pane {
  return { name, isShown: keptSignal(`${name} shown`, true), size: keptSignal(`${name} size`, size), ...limits };
}

/** Shows or hides a pane. */
export function PaneButton({ pane }: { readonly pane: Pane }): JSX.Element {
  return (
    <button
      type="button"
      aria-pressed={pane.isShown.value}
      onClick={() => {
        pane.isShown.value = !pane.isShown.value;
      }}
    >
      {pane.name}
    </button>
  );
}

/** The border of a pane, which can be moved. The steps grow to the right, and the text grows upwards. */
export function PaneBorder({ pane, axis }: { readonly pane: Pane; readonly axis: 'x' | 'y' }): JSX.Element | null {
  if (!pane.isShown.value) return null;
  const resize = (size: number): void => {
    pane.size.value = Math.max(pane.least, Math.min(pane.most, Math.round(size)));
  };
  const grow = axis === 'x' ? ['ArrowRight', 'ArrowLeft'] : ['ArrowUp', 'ArrowDown'];
  return (
    <div
      class={`pane-border ${axis}`}
      role="separator"
      tabIndex={0}
      aria-label={`Size of ${pane.name}`}
      aria-orientation={axis === 'x' ? 'vertical' : 'horizontal'}
      aria-valuenow={pane.size.value}
      aria-valuemin={pane.least}
      aria-valuemax={pane.most}
      onKeyDown={(event) => {
        const by = event.key === grow[0] ? KEY_PIXELS : event.key === grow[1] ? -KEY_PIXELS : 0;
        if (by === 0) return;
        resize(pane.size.value + by);
        event.preventDefault();
      }}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        event.preventDefault();
      }}
      onPointerMove={(event) => {
        const border = event.currentTarget;
        if (!border.hasPointerCapture(event.pointerId)) return;
        const main = border.parentElement!.getBoundingClientRect();
        resize(axis === 'x' ? event.clientX - main.left : main.bottom - event.clientY);
      }}
    />
  );
}

// Values of the page that survive a reload, in the storage of the tab. Contains sizes only, nothing of the sample but names of
// columns, and the browser deletes it when the tab is closed.

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
