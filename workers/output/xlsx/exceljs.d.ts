// Types of the parts of exceljs that create a workbook's XML, which exceljs does not declare. The models are those
// that exceljs's own classes pass to these parts.
declare module 'exceljs/lib/*' {
  export interface Renderer {
    /** Adds data derived from the model, such as numbers of styles. */
    prepare(model: object, options: object): void;
    toXml(model: object): string;
  }
  export interface StyleRenderer extends Renderer {
    /** Returns the number of the style in the workbook. */
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
