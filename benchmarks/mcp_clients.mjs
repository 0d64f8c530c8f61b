// Lists and calls everything with the official TypeScript SDK's client; run by benchmarks/mcp_clients.py.
// Arguments: legacy or auto; stdio or http; then the command, or the URL and the token.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const [mode, kind, ...rest] = process.argv.slice(2);
const transport =
  kind === 'stdio'
    ? new StdioClientTransport({ command: rest[0], args: rest.slice(1), env: process.env })
    : new StreamableHTTPClientTransport(new URL(rest[0]), {
        requestInit: { headers: { Authorization: `Bearer ${rest[1]}` } },
      });
const client = new Client({ name: 'benchmark', version: '1' }, { versionNegotiation: { mode } });
await client.connect(transport);

const called = new Set();
const call = async (name, args) => {
  const result = await client.callTool({ name, arguments: args });
  if (result.isError) throw new Error(`${name}: ${JSON.stringify(result)}`);
  called.add(name);
  return result.structuredContent;
};
const { tools } = await client.listTools();
const saved = await call('save_observation', { title: 'Zebras are striped', narrative: 'Seen at the zoo.' });
await call('store_knowledge', { knowledge_type: 'constraint', title: 'No visits', content: 'Too dear.' });
await call('save_session_summary', { task: 'Look at zebras' });
await call('search_memory', { query: 'zebras' });
await call('get_memories', { ids: [saved.id] });
await call('timeline', { around: saved.id });
await call('recall_context', { prompt: 'Why are zebras striped?' });
const edited = await call('edit_memory', { id: saved.id, title: 'Zebras have stripes' });
await call('forget_memory', { id: edited.id });
const { resources } = await client.listResources();
for (const { uri } of resources) await client.readResource({ uri });
const { resourceTemplates } = await client.listResourceTemplates();
const { prompts } = await client.listPrompts();
for (const { name } of prompts) await client.getPrompt({ name, arguments: {} });
const version = client.getNegotiatedProtocolVersion?.() ?? '';
await client.close();
console.log(
  JSON.stringify({
    version,
    tools: tools.length,
    called: called.size,
    resources: resources.length,
    templates: resourceTemplates.length,
    prompts: prompts.length,
  }),
);
