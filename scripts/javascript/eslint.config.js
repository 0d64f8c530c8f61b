// The viewer's own scripts run in browsers, as modules; only what is a defect is reported, not a matter of taste.
import js from "@eslint/js";
import globals from "globals";

const FILES = "kiro_learn/frontends/viewer/files/**/*.js";

export default [
  { ignores: ["**/vendor/**", "**/node_modules/**"] },
  {
    ...js.configs.recommended,
    files: [FILES],
    languageOptions: { ecmaVersion: 2023, sourceType: "module", globals: { ...globals.browser, ...globals.worker } },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      ...js.configs.recommended.rules,
      eqeqeq: ["error", "always", { null: "ignore" }],
      "no-alert": "error",
      "no-console": ["error", { allow: ["error"] }],
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-restricted-properties": [
        "error",
        ...["innerHTML", "outerHTML", "insertAdjacentHTML"].map((property) => ({ property, message: "Text is never markup." })),
      ],
      "no-restricted-syntax": [
        "error",
        { selector: "TemplateElement[value.raw=/\\sstyle=/]", message: "The policy refuses style=; use a class, or element.style." },
        { selector: "Identifier[name='dangerouslySetInnerHTML']", message: "Text is never markup." },
      ],
      "no-var": "error",
      "prefer-const": "error",
    },
  },
];
