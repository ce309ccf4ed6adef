/**
 * Fills `${NAME}` placeholders. The same files are filled by Helm's `replace`, so there is no logic in them: a value is
 * text, put in as it is.
 *
 * Throws when the template names a placeholder that has no value, or a value is given that the template does not name:
 * both are a template and its renderer drifting apart.
 */
export function fillTemplate(template: string, values: Readonly<Record<string, string>>): string {
  const unused = new Set(Object.keys(values));
  const filled = template.replaceAll(/\$\{([A-Z][A-Z0-9_]*)\}/g, (_whole, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`the template names \${${name}}, which has no value`);
    unused.delete(name);
    return value;
  });
  if (unused.size > 0) throw new Error(`the template does not name: ${[...unused].join(', ')}`);
  return filled;
}
