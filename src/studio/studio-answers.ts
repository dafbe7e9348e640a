// Response types of the studio's server, shared by the server and the page.
import type { Failure } from '../../workers/protocol/failure.ts';
import type { Problem } from '../../workers/template/template.ts';
import type { Watched } from '../../workers/watch/watch-messages.ts';

/** Initial state of the page. The page requests it again to detect changes of the file. */
export interface StudioState {
  /** File names without folders. */
  readonly template: string;
  readonly sample: string;
  readonly format: 'json' | 'yaml';
  readonly sampleBytes: number;
  /**
   * Changes if the sample has changed or other rows of it have been selected, so that the page evaluates the Template
   * again.
   */
  readonly sampleVersion: string;
  /** Number of leading sample rows that are read unless all rows are requested; null: all rows. */
  readonly sampleRowsMax: number | null;
  readonly source: string;
  readonly sha256: string;
  /** False: the file does not exist yet, and the text is an unsaved draft. */
  readonly isStored: boolean;
  /** True: a draft of a large sample is being made, and the text is empty until then. */
  readonly isDrafting: boolean;
  /** How much of the draft is made. */
  readonly draftPercent: number;
}

/** Index of a mistake above the list of operations, such as a column that the sample does not have. */
export const ABOVE_LIST = -1;

/** Result of evaluating a Template's text. */
export interface Evaluation {
  readonly problems: readonly Problem[];
  /**
   * Index of the first operation with a mistake in the list of operations. The watched steps are those above it.
   * ABOVE_LIST, which is below 0: the mistake is above the list, so that no operation was run and the watched rows are
   * those of the file. Null: there are no problems, or they are not in an operation.
   */
  readonly mistakeItem: number | null;
  /** Null: the mistake is above all steps, or a later Run replaced this one. */
  readonly watched: Watched | null;
  /**
   * Reason why the Run ended without an output. If no plan could be made, the watched rows are those of the file
   * only.
   */
  readonly failure: Failure | null;
  /** True if a later request replaced this one. */
  readonly isStale: boolean;
  /** True if only the head was requested and a request without `head` would read more rows. */
  readonly isHead: boolean;
}

export interface Language {
  readonly operations: readonly LanguageOperation[];
  readonly functions: readonly LanguageName[];
  readonly sections: readonly LanguageName[];
  /** Sections with a form: `input` and `output`. */
  readonly sectionForms: readonly LanguageForm[];
}

export interface LanguageName {
  readonly name: string;
  readonly summary: string;
}

export interface LanguageForm extends LanguageName {
  readonly form: OperationForm;
}

export interface LanguageOperation extends LanguageForm {
  readonly parameters: readonly LanguageName[];
  /** Names of this operation in other programs, for the search. */
  readonly alsoCalled: string;
}

/** One input of a form. */
export type FormField =
  | { readonly kind: 'text'; readonly mayBeEmpty: boolean }
  | { readonly kind: 'column' | 'columns' | 'boolean' | 'yaml' }
  | { readonly kind: 'number'; readonly isInteger: boolean }
  | { readonly kind: 'choice'; readonly options: readonly (string | number)[] }
  | { readonly kind: 'constant'; readonly value: unknown }
  | { readonly kind: 'list'; readonly item: FormField }
  /** A mapping whose keys are the user's. */
  | { readonly kind: 'map'; readonly value: FormField }
  | {
      readonly kind: 'object';
      readonly properties: readonly FormProperty[];
      /** Names of properties, of which exactly one group is given; empty: no such rule. */
      readonly choices: readonly (readonly string[])[];
    }
  | { readonly kind: 'variants'; readonly variants: readonly FormVariant[] };

export interface FormVariant {
  readonly label: string;
  readonly field: FormField;
}

export interface FormProperty {
  readonly name: string;
  /** A sentence or more, with code between backquotes. */
  readonly help: string;
  readonly isRequired: boolean;
  readonly default?: unknown;
  readonly field: FormField;
}

export interface OperationForm extends Extract<FormField, { readonly kind: 'object' }> {
  /** Parameters that many operations have, such as `where` and `on_error`. */
  readonly further: readonly FormProperty[];
  /** Parameters of a documented example; null: none. */
  readonly example: Readonly<Record<string, unknown>> | null;
}

/** An operation of the text, for its form. */
export interface ReadOperation {
  readonly name: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** Result of one test of the Template. */
export interface TestedAnswer {
  readonly test: string;
  readonly passed: boolean;
  readonly differences: readonly string[];
}

/** A reference table that the page has sent. */
export interface OpenedTable {
  readonly name: string;
  readonly columns: readonly ColumnValues[];
}

/** A column with some of its values, for a guess of the columns that must be equal. */
export interface ColumnValues {
  readonly name: string;
  readonly values: readonly string[];
}

/** Values that probably mean the same, with their numbers of rows. The most frequent one is first. */
export type SimilarValues = readonly { readonly text: string; readonly count: number }[];

/** Settings of the search for similar values. */
export interface SimilarityMethod {
  readonly method: 'fingerprint' | 'similarity';
  /** Minimum similarity, from 0.5 to 1. Not used for fingerprints. */
  readonly threshold: number;
}

export interface SimilarValuesAnswer {
  readonly groups: readonly SimilarValues[];
  /** Number of groups, including those that `groups` leaves out because there are too many. */
  readonly groupsFound: number;
  /** Number of distinct values. */
  readonly values: number;
  /** Number of values that were compared, which are the most frequent ones. */
  readonly valuesCompared: number;
}

/** A step that the columns after a step may need. */
export interface Suggestion {
  readonly operation: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Counts for people. */
  readonly evidence: string;
  /** For similar values: how they were found, so that the page can show them for review. */
  readonly similarity?: SimilarityMethod;
}

/** A text that an earlier page did not save. */
export interface RecoveredText {
  /** Name of its file. */
  readonly name: string;
  readonly source: string;
  /** When it was written, in milliseconds since 1970. */
  readonly writtenAt: number;
  /** True if the Template's file was changed after that. */
  readonly isTemplateNewer: boolean;
  /** True if it belongs to another page of this studio, which may still be open. */
  readonly mayBeOpen: boolean;
}

export interface RecoveryDecision {
  readonly does: 'take' | 'drop';
  readonly name: string;
  /** The text that was offered. A newer text in the same file is neither taken nor deleted. */
  readonly source: string;
}

export interface MadeTest {
  /** The Template's text with the test. */
  readonly source: string;
  readonly name: string;
}

export interface StudioRefusal {
  readonly code: string;
  readonly message: string;
  /** With TEMPLATE_CHANGED: the current content of the file. */
  readonly source?: string;
  readonly sha256?: string;
}
