// The parts of exceljs that make a workbook's XML: it declares no types for them. Models are what its own classes hand to them.
declare module 'exceljs/lib/*' {
  export interface Renderer {
    /** Fills in what follows from the model, such as numbers of styles. */
    prepare(model: object, options: object): void;
    toXml(model: object): string;
  }
  export interface StyleRenderer extends Renderer {
    /** Number of a style in the workbook. */
    addStyleModel(style: object): number;
    readonly xml: string;
  }
  const Part: new (initialise?: boolean) => StyleRenderer;
  export default Part;
}

declare module 'exceljs/lib/xlsx/xml/theme1.js' {
  const xml: string;
  export default xml;
}

declare module 'exceljs/lib/xlsx/rel-type.js' {
  const types: Readonly<Record<string, string>>;
  export default types;
}
