// Where the package lies: from dist/src, and from dist/bundled, where the build puts this module into a larger file.

/** Ends in a slash. */
export const PACKAGE_FOLDER = new URL('../../', import.meta.url);
