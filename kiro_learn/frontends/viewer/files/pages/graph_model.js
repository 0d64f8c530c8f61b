// The graph as the page holds it: nodes with their neighbours, and where each begins. No drawing, no request.

/** @typedef {{id: string, kind: string, label: string, type: string | null, namespace: string | null, at: string | null}} GraphNode */
/** @typedef {{source: number, target: number, says: string | null, count: number}} Link */
/** @typedef {{node: GraphNode, says: string | null, count: number, isFrom: boolean}} Neighbour */
/** @typedef {{nodes: GraphNode[], links: Link[], near: Map<string, Neighbour[]>, byId: Map<string, GraphNode>}} Graph */

/** One and many of each kind, in the order in which they are offered. @type {Record<string, [string, string]>} */
export const KINDS = {
  projects: ["project", "projects"],
  memories: ["memory", "memories"],
  concepts: ["concept", "concepts"],
  entities: ["entity", "entities"],
  files: ["file", "files"],
};

/** @param {{nodes: GraphNode[], links: Link[]}} data @param {string | undefined} around only this node and its neighbours @returns {Graph} */
export function graphOf({ nodes, links }, around) {
  const near = new Map(nodes.map((node) => [node.id, /** @type {Neighbour[]} */ ([])]));
  for (const { source, target, says, count } of links) {
    const [from, to] = [nodes[source], nodes[target]];
    near.get(from.id)?.push({ node: to, says, count, isFrom: true });
    near.get(to.id)?.push({ node: from, says, count, isFrom: false });
  }
  const byId = new Map(nodes.map((node) => [node.id, node]));
  if (!around || !byId.has(around)) return { nodes, links, near, byId };
  const kept = new Set([around, ...(near.get(around) ?? []).map((each) => each.node.id)]);
  const places = new Map();
  const few = nodes.filter((node, place) => kept.has(node.id) && places.set(place, places.size));
  const fewer = links
    .filter((link) => places.has(link.source) && places.has(link.target))
    .map((link) => ({ ...link, source: places.get(link.source), target: places.get(link.target) }));
  return graphOf({ nodes: few, links: fewer }, undefined);
}

/** How many links a node has. @param {Graph} graph @param {GraphNode} node */
export const degree = (graph, node) => graph.near.get(node.id)?.length ?? 0;

/** A number from 0 to 1 that a text always has. @param {string} text @param {number} salt */
function chance(text, salt) {
  let hash = 2166136261 ^ salt;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 16777619);
  hash = Math.imul(hash ^ (hash >>> 15), 2246822507);
  hash = Math.imul(hash ^ (hash >>> 13), 3266489909);
  return ((hash ^ (hash >>> 16)) >>> 0) / 4294967296;
}

/** In a disc as large as the graph needs. @param {string} id @param {number} radius @returns {[number, number]} */
function spot(id, radius) {
  const angle = chance(id, 1) * 2 * Math.PI;
  const distance = Math.sqrt(chance(id, 2)) * radius;
  return [Math.cos(angle) * distance, Math.sin(angle) * distance];
}

/** Where each node begins: by its name, a memory amid what it is about. @param {Graph} graph @param {GraphNode[]} nodes @returns {Map<string, [number, number]>} */
export function startOf(graph, nodes) {
  const radius = 10 * Math.sqrt(nodes.length + 1);
  return new Map(
    nodes.map((node) => {
      const [x, y] = spot(node.id, radius);
      const about = node.kind === "memories" ? (graph.near.get(node.id) ?? []).filter((each) => each.node.kind !== "memories") : [];
      if (!about.length) return [node.id, [x, y]];
      const ends = about.map((each) => spot(each.node.id, radius));
      const middle = [0, 1].map((axis) => ends.reduce((sum, end) => sum + end[axis], 0) / ends.length);
      return [node.id, [middle[0] + x / 8, middle[1] + y / 8]];
    }),
  );
}

/** As the worker wants them: ten numbers a node, three a link. @param {Graph} graph @param {GraphNode[]} nodes */
export function matricesOf(graph, nodes) {
  const start = startOf(graph, nodes);
  const places = new Map(nodes.map((node, place) => [node.id, place]));
  const links = graph.links.filter((each) => places.has(graph.nodes[each.source].id) && places.has(graph.nodes[each.target].id));
  const matrix = new Float32Array(nodes.length * 10);
  nodes.forEach((node, place) => {
    const [x, y] = start.get(node.id) ?? [0, 0];
    matrix.set([x, y, 0, 0, 0, 0, 1 + degree(graph, node), 1, 1, 0], place * 10);
  });
  const edges = new Float32Array(links.length * 3);
  links.forEach((link, place) => {
    const [from, to] = [link.source, link.target].map((each) => places.get(graph.nodes[each].id) ?? 0);
    edges.set([from * 10, to * 10, 1], place * 3);
  });
  return { nodes: matrix, edges, rounds: 300 };
}
