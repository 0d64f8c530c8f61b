// Draws a graph with sigma, and tells what is hovered and chosen. Everything it needs to know it is told.
import { loadScript, scriptUrl } from "../lib/html.js";
import { onTheme, token } from "../lib/theme.js";
import { degree, matricesOf, startOf } from "./graph_model.js";

/** @typedef {import("./graph_model.js").Graph} Graph */
/** @typedef {import("./graph_model.js").GraphNode} GraphNode */

const MOST_LINKS_SEEN = 1500;
const LABELLED = 30;
const FEW_NODES = 120;
const MOVE_MS = 180;
/** From a node, in px, within which it is meant. */
const REACH = 10;
const COLOURS = { projects: "text", memories: "c1", concepts: "c2", entities: "c4", files: "c5" };

/** "none" without WebGL 2, "software" where no graphics card draws. @returns {"card" | "software" | "none"} */
export function drawer() {
  const gl = document.createElement("canvas").getContext("webgl2");
  if (!gl) return "none";
  const about = gl.getExtension("WEBGL_debug_renderer_info");
  const name = String(gl.getParameter(about ? about.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software|basic render/i.test(name) ? "software" : "card";
}

/** From 2 to 7 px: what many share is larger than what shares it. @param {GraphNode} node @param {number} links @param {boolean} isSmall whether there is room */
function sizeOf(node, links, isSmall) {
  if (node.kind === "projects") return 7;
  return Math.min(6.5, (isSmall ? 3.5 : 2) + (node.kind === "memories" ? 0 : 0.5 + Math.sqrt(links) * 0.5));
}

/** @param {HTMLElement} place @param {Graph} graph @param {GraphNode[]} nodes those with a link @param {(id: string | null) => void} onChoose */
export async function drawGraph(place, graph, nodes, onChoose) {
  await Promise.all(["vendor/graphology.umd.min.js", "vendor/sigma.min.js"].map(loadScript));
  if (!place.isConnected) return null; // another picture is wanted by now
  const { graphology, Sigma } = /** @type {any} */ (window);
  const drawn = new graphology.Graph({ multi: true, type: "undirected" });
  const start = startOf(graph, nodes);
  const biggest = new Set([...nodes].sort((one, other) => degree(graph, other) - degree(graph, one)).filter((node) => node.kind !== "memories").slice(0, LABELLED).map((node) => node.id));
  for (const node of nodes) {
    const [x, y] = start.get(node.id) ?? [0, 0];
    drawn.addNode(node.id, { x, y, size: sizeOf(node, degree(graph, node), nodes.length <= FEW_NODES), kind: node.kind, text: node.label, isNamed: node.kind === "projects" || biggest.has(node.id) });
  }
  const spots = nodes.map((node) => drawn.getNodeAttributes(node.id));
  const ends = graph.links.map((link) => [graph.nodes[link.source].id, graph.nodes[link.target].id]);
  const areFew = ends.length < MOST_LINKS_SEEN;
  let colours = coloursNow();
  /** What was chosen, and its neighbours: all else steps back. */
  let centre = /** @type {string | null} */ (null);
  let around = new Set(/** @type {string[]} */ ([]));
  let inSight = { nodes: new Set(/** @type {string[]} */ ([])), hasLinks: areFew, isFew: nodes.length <= FEW_NODES };

  const sigma = new Sigma(drawn, place, {
    nodeProgramClasses: { circle: Sigma.rendering.NodePointProgram },
    edgeProgramClasses: { line: Sigma.rendering.EdgeLineProgram },
    hideEdgesOnMove: !areFew,
    hideLabelsOnMove: true,
    labelRenderedSizeThreshold: 0,
    labelDensity: 0.8,
    labelGridCellSize: 120,
    labelFont: "system-ui, sans-serif",
    labelSize: 12,
    labelColor: { attribute: "ink" },
    defaultDrawNodeHover: drawHover,
    zIndex: true,
    minCameraRatio: 0.02,
    maxCameraRatio: 3,
    stagePadding: 40,
    nodeReducer: (/** @type {string} */ id, /** @type {any} */ node) => {
      const isNear = !centre || id === centre || around.has(id);
      const isLabelled = centre ? isNear && around.size <= LABELLED : node.isNamed || (inSight.isFew && inSight.nodes.has(id));
      return {
        ...node,
        color: isNear ? colours[node.kind] : colours.dim,
        ink: colours.ink,
        label: isLabelled || id === centre ? short(node.text) : null,
        forceLabel: id === centre || (node.kind === "projects" && isNear),
        zIndex: centre && isNear ? 1 : 0,
      };
    },
    edgeReducer: (/** @type {string} */ _edge, /** @type {any} */ link) => ({ ...link, color: centre ? colours.strong : colours.line }),
  });
  // Of the nodes in reach the nearest, found without reading pixels back, for which every frame would wait.
  sigma.getNodeAtPosition = (/** @type {{x: number, y: number}} */ at) => {
    const here = sigma.viewportToGraph(at);
    const edge = sigma.viewportToGraph({ x: at.x + REACH, y: at.y });
    let best = -1;
    let least = (edge.x - here.x) ** 2 + (edge.y - here.y) ** 2;
    for (let place = 0; place < nodes.length; place += 1) {
      const far = (spots[place].x - here.x) ** 2 + (spots[place].y - here.y) ** 2;
      if (far < least) [best, least] = [place, far];
    }
    return best < 0 ? null : nodes[best].id;
  };
  let isEnded = false;
  // The camera may still be on its way when the picture is gone.
  const redraw = () => void (isEnded || sigma.refresh({ schedule: true }));

  /** Only links that are seen are drawn at all: thousands that are not would cost every frame. */
  function relink() {
    const isSeen = (/** @type {string} */ id) => (centre ? id === centre : areFew || inSight.nodes.has(id));
    const seen = centre || inSight.hasLinks ? ends.filter(([from, to]) => isSeen(from) || isSeen(to)) : [];
    if (drawn.size) drawn.clearEdges();
    for (const [from, to] of seen) drawn.addEdge(from, to);
    redraw();
  }

  /** A node under the pointer with its neighbours, over the picture, which stays as it is. @param {CanvasRenderingContext2D} canvas @param {any} node @param {any} settings */
  function drawHover(canvas, node, settings) {
    canvas.font = `${settings.labelSize}px ${settings.labelFont}`;
    const disc = (/** @type {number} */ left, /** @type {number} */ top, /** @type {number} */ radius, /** @type {string} */ kind) => {
      canvas.fillStyle = colours[kind];
      canvas.beginPath();
      canvas.arc(left, top, radius, 0, 2 * Math.PI);
      canvas.fill();
    };
    for (const { node: other } of graph.near.get(node.key) ?? []) {
      const { x, y } = sigma.graphToViewport(drawn.getNodeAttributes(other.id));
      canvas.strokeStyle = colours.strong;
      canvas.beginPath();
      canvas.moveTo(node.x, node.y);
      canvas.lineTo(x, y);
      canvas.stroke();
      disc(x, y, 4, other.kind);
    }
    const text = short(graph.byId.get(node.key)?.label ?? "");
    const [x, y] = [node.x + node.size + 3, node.y - 10];
    canvas.fillStyle = colours.card;
    canvas.strokeStyle = colours.strong;
    canvas.beginPath();
    canvas.roundRect(x, y, canvas.measureText(text).width + 12, 20, 4);
    canvas.fill();
    canvas.stroke();
    disc(node.x, node.y, node.size + 2, graph.byId.get(node.key)?.kind ?? "memories");
    canvas.stroke();
    canvas.fillStyle = colours.ink;
    canvas.fillText(text, x + 6, node.y + 4);
  }

  /** @param {string | null} id */
  function lookAt(id) {
    if (id === centre) return;
    centre = id;
    around = new Set(centre ? graph.near.get(centre)?.map((each) => each.node.id) : []);
    relink();
  }

  /** Which nodes and links the camera shows now. */
  function survey() {
    const { width, height } = sigma.getDimensions();
    const [one, other] = [sigma.viewportToGraph({ x: 0, y: 0 }), sigma.viewportToGraph({ x: width, y: height })];
    const [left, right, low, high] = [Math.min(one.x, other.x), Math.max(one.x, other.x), Math.min(one.y, other.y), Math.max(one.y, other.y)];
    const seen = new Set(/** @type {string[]} */ ([]));
    drawn.forEachNode((/** @type {string} */ id, /** @type {any} */ { x, y }) => void (x >= left && x <= right && y >= low && y <= high && seen.add(id)));
    let count = 0;
    for (const id of seen) count += graph.near.get(id)?.length ?? 0;
    const next = { nodes: seen, hasLinks: count / 2 < MOST_LINKS_SEEN, isFew: seen.size <= FEW_NODES };
    const isOther = next.hasLinks !== inSight.hasLinks || next.isFew !== inSight.isFew || ((next.hasLinks || next.isFew) && next.nodes.size !== inSight.nodes.size);
    inSight = next;
    if (isOther) relink();
  }

  let surveyTimer = 0;
  const camera = sigma.getCamera();
  const surveyLater = () => {
    clearTimeout(surveyTimer);
    if (isEnded) return;
    surveyTimer = setTimeout(survey, 150);
  };
  camera.on("updated", surveyLater);
  sigma.on("clickNode", (/** @type {any} */ { node }) => onChoose(node));
  sigma.on("clickStage", () => onChoose(null));

  const deafen = onTheme(() => {
    colours = coloursNow();
    redraw();
  });

  const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const move = (/** @type {any} */ to) => camera.animate(to, { duration: isStill ? 0 : MOVE_MS });
  const worker = new Worker(scriptUrl("pages/graph_layout.js"), { type: "module" });
  worker.onmessage = ({ data }) => {
    place.dataset.settled = String(data.isDone);
    if (isStill && !data.isDone) return;
    spots.forEach((node, index) => {
      [node.x, node.y] = [data.nodes[index * 10], data.nodes[index * 10 + 1]];
    });
    redraw();
    surveyLater();
    if (data.isDone) worker.terminate();
  };
  worker.postMessage(matricesOf(graph, nodes));
  relink();
  const observer = new ResizeObserver(() => {
    sigma.resize();
    redraw();
    surveyLater();
  });
  observer.observe(place);

  return {
    /** @param {string | null} id @param {boolean} [comes] the camera goes there */
    choose(id, comes = false) {
      lookAt(id && drawn.hasNode(id) ? id : null);
      if (centre && comes) {
        const { x, y } = sigma.viewportToFramedGraph(sigma.graphToViewport(drawn.getNodeAttributes(centre)));
        move({ x, y, ratio: Math.min(camera.ratio, 0.4) });
      }
    },
    zoom: (/** @type {number} */ by) => move({ ratio: Math.min(3, Math.max(0.02, camera.ratio * by)) }),
    fit: () => move({ x: 0.5, y: 0.5, ratio: 1, angle: 0 }),
    pan: (/** @type {number} */ x, /** @type {number} */ y) => move({ x: camera.x + x * camera.ratio, y: camera.y + y * camera.ratio }),
    end() {
      isEnded = true;
      worker.terminate();
      observer.disconnect();
      clearTimeout(surveyTimer);
      deafen();
      sigma.kill();
    },
  };
}

/** @returns {Record<string, string>} */
function coloursNow() {
  const found = Object.fromEntries(Object.entries(COLOURS).map(([kind, name]) => [kind, token(name)]));
  return { ...found, ink: token("text"), card: token("card"), line: token("line"), strong: token("control"), dim: token("line") };
}

/** @param {string} text */
const short = (text) => (text.length > 32 ? `${text.slice(0, 31)}…` : text);
