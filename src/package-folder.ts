// Location of the package, both from dist/src and from dist/bundled, where the build puts this module into a bundle.

/** Ends with a slash. */
export const PACKAGE_FOLDER = new URL('../../', import.meta.url);
