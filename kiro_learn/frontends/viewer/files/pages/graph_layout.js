// A worker: places the nodes of a graph by ForceAtlas2. The same numbers in give the same numbers out.
import iterate from "../vendor/forceatlas2-iterate.js";

const SECONDS_BETWEEN = 0.5;
const FEW = 1000;

self.onmessage = ({ data: { nodes, edges, rounds } }) => {
  const order = nodes.length / 10;
  const settings = {
    linLogMode: false, outboundAttractionDistribution: false, adjustSizes: false, edgeWeightInfluence: 1, scalingRatio: 10,
    strongGravityMode: true, gravity: order > FEW ? 0.05 : 0.25, slowDown: 1 + Math.log(order), barnesHutOptimize: order > FEW, barnesHutTheta: 0.5,
  };
  let told = performance.now();
  for (let round = 0; round < rounds; round += 1) {
    iterate(settings, nodes, edges);
    if (performance.now() - told < SECONDS_BETWEEN * 1000) continue;
    self.postMessage({ nodes: nodes.slice(), isDone: false });
    told = performance.now();
  }
  self.postMessage({ nodes, isDone: true });
};
