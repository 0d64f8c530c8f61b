declare const iterate: (settings: object, nodes: Float32Array, edges: Float32Array) => object;
export default iterate;
