// Entry point of the kernels. The build declares these exports in workers/kernel/bindings/exports.ts.

/** First address after the kernels' static data. */
export function heapStart(): usize {
  return __heap_base;
}
export { stripAccents, changeAsciiCase, capitalise, changeCase } from './letters';
export { calculate, compareNumbers, dateParts, formatDates, parseDays, extremeNumbers, roundVector, toDecimals, writeVector, chooseNumbers, fillNumbers, loadNumbers, parseNumbers, storeNumbers } from './number-vectors';
export { listTodo, keepBytes, maskCells, padCells, putAround, truncateCells, settleViews, keepKinds, matchLength, mergeTexts, collapseSpaces, keepBlank, keepEmpty, matchBlank, trimViews } from './edit-texts';
export { readDates, writeDates } from './dates';
export { roundDecimals, writeNumbers, roundDoubles, readNumbers } from './numbers';
export { mergeFinished, sortFinished, finishRows, gatherFinished, listEntries, listFinished, packedBytes, packEntries, packFinished } from './encoded-rows';
export { fingerprintViews, composeKeys, hashViews, findKeys, insertKeys, moveSlots, splitByNew, touchSlots, addPrints, findPrints, movePrints, touchPrints, addCachedKeys, findCachedKeys, scatter, typedKeys } from './keys';
export { compareSimilarity, wordKeys } from './similarity';
export { foldCount, foldDoubles, foldEnd, foldExtreme, foldSum, foldValues, unpackStates } from './fold';
export { copyCells, copyPlaced, putCells, numberRows, keepMarked, keepUnlisted, markEmpty, markFound, markMeta, markOthers, markTrue, decodeEntries, decodeRows, encodeRows } from './rows';
export { gatherHeld, holdValues, keepTexts, countEntries, settleEntries, settlePercentiles } from './group-values';
export { markGroups, gatherRecords, keepBefore, keepOfGroups, listRecords, reloadEntries, sortEntries, joinKeys, sortKeys } from './sort';
export { findCaptures, replaceCaptures, splitCaptures, matchPattern, findPattern, replacePattern } from './patterns';
export { redactEmails, compareTexts, matchText, replaceText, replaceWhole } from './search-texts';
export { indexPairKeys, splitPairs } from './split-pairs';
export { findFields, soundCells, writeObjects, settleCells } from './json-cells';
export { explodeLists, explodeTexts } from './explode';
export { emitCsv } from './emit-csv';
export { emitJson } from './emit-json';
export { packTexts, packValues, packedTextBytes } from './emit-parquet';
export { emitSheet, findLongTexts } from './emit-sheet';
export { crc32, digestTexts } from './digests';
export { indexRaggedRows, indexRows, rowsAreUniform, materialise } from './csv-rows';
export { findNullTexts } from './cell';
export { readJson, traverseJson } from './read-json';
export { readSheet } from './read-sheet';
export { readStrings } from './sheet-texts';
export { scan } from './scan';
export { deflateSnappy, inflateSnappy } from './snappy';
export { decodeSingleBytes } from './single-byte';
export { combineStates, findUnknown, keepTrue, loadBooleans, negateStates, storeStates } from './states';
export { chooseTexts, cutTexts, dropLongTexts, fillRows, fillTexts, gatherTexts, joinPresent, joinTexts, listTexts, sizeTexts, sliceTexts, splitCells, splitTexts, storeTexts } from './text-vector';
