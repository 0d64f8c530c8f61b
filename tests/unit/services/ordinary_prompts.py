"""Ordinary first prompts of sessions, with a colleague's answer about the Next.js shop; and prompts to which a
colleague would say nothing.
"""

from __future__ import annotations

ORDINARY = {
    "install lodash": "pnpm add NAME",
    "run the tests": "pnpm test",
    "ship it": "vercel --prod",
    "what is our stack?": "Next.js 14.2.3",
    "what language is the app in?": "TypeScript 5.4.5",
    "how do I run this locally?": "pnpm dev",
    "lint the code": "pnpm lint",
    "start the dev server": "pnpm dev",
    "run the migrations": "pnpm db:migrate",
    "commit this": "default branch: main",
    "which database do we use?": "PostgreSQL 16",
    "can you deploy this to production?": "vercel --prod",
}

ASKED_LATER = {
    "what's the default branch?": "default branch: main",
    "which package manager do we use?": "pnpm 9.1.0",
    "how do I run the tests?": "pnpm test",
    "what node version does this need?": "Node.js 20.11.1",
    "where is this deployed?": "Vercel",
}
"""Prompts that ask for a slot: answered at any time of a session."""

BY_NAME = {
    "which version of Next.js do we have?": "framework: Next.js 14.2.3 (",
    "do we use Redis here?": "service: Redis 7 (",
    "is it Postgres or MySQL?": "service: PostgreSQL 16 (",
    "pnpm or npm?": "package manager: pnpm 9.1.0 (",
    "are we on TypeScript?": "language: TypeScript 5.4.5 (",
}
"""Prompts that ask for a tool by its name: answered at any time of a session."""

GOING_ON = (
    "ok run the tests again",
    "yes, install it",
    "now deploy",
    "can you run the tests?",
    "commit and push",
    "lint it please",
    "why does the deploy step fail with a 403?",
    "what tests did you write?",
    "do we use the same helper in React as before the change of last night",
    "why does Vitest hang?",
    "is the Redis client closed or does it leak?",
)
"""Later prompts of a session, which need no slot."""

NOT_ABOUT_IT = (
    "build a login page with a forgotten password link",
    "add tests for the cart total",
    "fix the failing test in cart.test.ts",
    "refactor the migration runner",
    "how does the cart build its total?",
    "what is the stack trace of this error?",
    "write a function that deploys nothing",
    "explain the release notes of React 18",
)
"""First prompts that contain a word of a slot but ask for no slot."""
