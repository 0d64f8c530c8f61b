// What the viewer uses of Preact; templates are htm's, whose types are anything.
export const Fragment: any;
export function h(type: any, props?: any, ...children: any[]): any;
export function render(node: any, parent: Element): void;
