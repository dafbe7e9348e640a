// The versions of the text in this page, each with the name of the change that made it, for undo, redo and the history.
import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';

export interface Version {
  /** What the change did, for people. */
  readonly label: string;
  readonly text: string;
}

/** Versions that are kept. Older ones are forgotten. */
const VERSIONS_MAX = 200;

export class TextHistory {
  /** Oldest first. */
  readonly versions: Signal<readonly Version[]>;
  /** Index of the version that the page shows. */
  readonly current: Signal<number> = signal(0);
  readonly canUndo: ReadonlySignal<boolean> = computed(() => this.current.value > 0);
  readonly canRedo: ReadonlySignal<boolean> = computed(() => this.current.value < this.versions.value.length - 1);

  constructor(text: string) {
    this.versions = signal([{ label: 'Start', text }]);
  }

  /**
   * Notes a new text of the page, and forgets the versions that were undone.
   * @param label null: the text was typed, or changed by undo or redo of the editor
   */
  note(text: string, label: string | null): void {
    const versions = this.versions.peek();
    const at = this.current.peek();
    if (label === null && this.#moveTo(text, at)) return;
    const before = versions[at]!;
    const made = { label: label ?? `Type in line ${changedLine(before.text, text)}`, text };
    // Typing in one line makes one version, unless the user has gone back to that version, perhaps to compare.
    const isMore = label === null && before.label === made.label && at === versions.length - 1;
    const kept = [...versions.slice(0, isMore ? at : at + 1), made].slice(-VERSIONS_MAX);
    this.versions.value = kept;
    this.current.value = kept.length - 1;
  }

  /** The editor has its own undo, which may lead to the version before or after. */
  #moveTo(text: string, at: number): boolean {
    const found = [at - 1, at + 1].find((index) => this.versions.peek()[index]?.text === text);
    if (found !== undefined) this.current.value = found;
    return found !== undefined;
  }
}

/** Number of the first line that differs, from 1. */
function changedLine(before: string, after: string): number {
  const [old, lines] = [before.split('\n'), after.split('\n')];
  const found = lines.findIndex((line, index) => line !== old[index]);
  return found < 0 ? lines.length : found + 1;
}
