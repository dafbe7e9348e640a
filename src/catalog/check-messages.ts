// Messages between the service and the thread that checks its Templates, which handles one Template at a time.
import type { TaskTable } from '../../workers/protocol/messages.ts';
import type { CheckedTemplate } from '../outputs/output-store.ts';
import type { TemplateCheck } from './template-checker.ts';
import type { TestJob } from './template-gate.ts';

export type ToCheckThread =
  /** The names that the following Templates may refer to. */
  | { readonly kind: 'references'; readonly tables: readonly string[]; readonly secrets: readonly string[] }
  | { readonly kind: 'check'; readonly source: string; readonly format: 'json' | 'yaml' }
  /** `folder`: for files written by the tests; removed when the thread has ended. */
  | (Omit<TestJob, 'tables'> & {
      readonly kind: 'test';
      readonly folder: string;
      readonly tables: Readonly<Record<string, TaskTable>>;
    });

export type FromCheckThread =
  /**
   * The first message. `kernelThread`: the thread's number in /proc/self/task, null if the system has no such
   * numbers.
   */
  | { readonly kind: 'ready'; readonly kernelThread: string | null }
  | { readonly kind: 'checked'; readonly check: TemplateCheck<CheckedTemplate> }
  | { readonly kind: 'tested'; readonly tests: readonly { readonly name: string; readonly differences: number }[] }
  /** The text is nested so deeply that the checker's stack overflowed. */
  | { readonly kind: 'too-deep' }
  | { readonly kind: 'fault'; readonly message: string; readonly stack: string };
