// The kernels' one entry: what is exported here is what workers/kernel/kernel.ts declares.

/** First address behind the kernels' own static data. */
export function heapStart(): usize {
  return __heap_base;
}
export { calculate, compareNumbers } from './calculate';
export { capitalise, changeCase } from './case';
export { handBack, keepBytes, padCells, putAround, truncateCells } from './characters';
export { chooseTexts, matchLength } from './choose';
export { settleViews } from './compare';
export { readDates, writeDates } from './dates';
export { roundDecimals, writeNumbers } from './decimals';
export { roundDoubles } from './doubles';
export { mergeFinished, sortFinished } from './finished-order';
export { fingerprintViews } from './fingerprint';
export { finishRows, gatherFinished } from './finished-rows';
export { listEntries, listFinished, packedBytes, packEntries, packFinished } from './finished-runs';
export { foldCount, foldDoubles, foldEnd, foldExtreme, foldSum, foldValues, unpackStates } from './fold';
export { composeKeys, hashViews } from './hash';
export { findKeys, insertKeys, moveSlots, splitByNew, touchSlots } from './hash-table';
export { addPrints, findPrints, movePrints, touchPrints } from './key-set';
export { keepMarked, keepUnlisted, markEmpty, markFound, markMeta, markOthers, markTrue } from './marks';
export { matchText } from './match-text';
export { readNumbers } from './read-numbers';
export { findPattern, replacePattern } from './replace-pattern';
export { replaceText, replaceWhole } from './replace';
export { decodeEntries, decodeRows, encodeRows } from './rows';
export { gatherRecords, keepBefore, listRecords, reloadEntries, sortEntries } from './sort';
export { addShortKeys, findShortKeys, scatter } from './short-keys';
export { sortKeys } from './sort-keys';
export { typedKeys } from './typed-keys';
export { collapseSpaces, keepBlank, keepEmpty, trimViews } from './trim';
export { emitCsv } from './emit-csv';
export { emitJson } from './emit-json';
export { indexRaggedRows } from './index-ragged-rows';
export { indexRows, rowsAreUniform } from './index-rows';
export { materialise } from './materialise';
export { findNullTexts } from './null-texts';
export { scan } from './scan';
export { combineStates, findUnknown, keepTrue, loadBooleans, negateStates } from './states';
export { loadNumbers, parseNumbers, storeNumbers } from './vector';
