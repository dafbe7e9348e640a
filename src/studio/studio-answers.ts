// What the studio's server answers its page: plain values, named here for both sides.
import type { Failure } from '../../workers/protocol/failure.ts';
import type { Problem } from '../../workers/template/template.ts';
import type { Watched } from '../../workers/watch/watch-messages.ts';

/** What the page begins with, and what it asks for again to see whether the file has changed. */
export interface StudioState {
  /** File names without their folders. */
  readonly template: string;
  readonly sample: string;
  readonly format: 'json' | 'yaml';
  readonly sampleBytes: number;
  /** Another one when the sample has changed, or other rows of it are at hand: it is worth another look. */
  readonly sampleVersion: string;
  /** First rows that are read of the sample unless all are asked for; null: all. */
  readonly sampleRowsMax: number | null;
  readonly source: string;
  readonly sha256: string;
}

/** What came of a Template's text. */
export interface Looked {
  readonly problems: readonly Problem[];
  /** Null: the Template has problems, or the Run was ended for a later one. */
  readonly watched: Watched | null;
  /** Why the Run ended without an output; the watched rows are then those of the file alone where the plan was not made. */
  readonly failure: Failure | null;
  /** True where a later request took its place. */
  readonly isStale: boolean;
  /** True where the head alone was asked for, and more rows are read when it is asked again without. */
  readonly isHead: boolean;
}

export interface Language {
  readonly operations: readonly LanguageOperation[];
  readonly functions: readonly LanguageName[];
  readonly sections: readonly LanguageName[];
}

export interface LanguageName {
  readonly name: string;
  readonly summary: string;
}

export interface LanguageOperation extends LanguageName {
  readonly parameters: readonly LanguageName[];
}

export interface MadeTest {
  /** The Template's text with the test. */
  readonly source: string;
  readonly name: string;
}

export interface StudioRefusal {
  readonly code: string;
  readonly message: string;
  /** With TEMPLATE_CHANGED: what stands in the file now. */
  readonly source?: string;
  readonly sha256?: string;
}
