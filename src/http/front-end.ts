// Chooses the HTTP front end of a node: uWebSockets.js if it loads, otherwise Node's own server. Both give the same
// responses; uWebSockets.js serves small Runs about twice as fast.
import type { FrontEnd } from './http-server.ts';
import { HttpLibraryError, loadUws } from './uws-front-end.ts';

export const HTTP_LIBRARIES = ['auto', 'uws', 'node'] as const;
export type HttpLibraryChoice = (typeof HTTP_LIBRARIES)[number];

export interface ChosenFrontEnd {
  readonly frontEnd: FrontEnd;
  /** The reason why `auto` did not choose the fast front end. null if it did, or if a library was requested. */
  readonly slowBecause: string | null;
}

/** Rejects with HttpLibraryError if `uws` is requested and does not load. */
export async function chooseFrontEnd(choice: HttpLibraryChoice): Promise<ChosenFrontEnd> {
  if (choice === 'node') return { frontEnd: await loadNode(), slowBecause: null };
  try {
    return { frontEnd: await loadUws(), slowBecause: null };
  } catch (error) {
    if (choice === 'uws' || !(error instanceof HttpLibraryError)) throw error;
    return { frontEnd: await loadNode(), slowBecause: error.message };
  }
}

async function loadNode(): Promise<FrontEnd> {
  const { nodeFrontEnd } = await import('./node-front-end.ts');
  return nodeFrontEnd;
}
