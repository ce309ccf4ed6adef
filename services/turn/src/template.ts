/**
 * Fills `${NAME}` placeholders. Helm's `replace` fills the same files, so they contain no logic: a value is inserted as text.
 *
 * Throws where the template has a placeholder without a value, or a value has no placeholder: then the template and its renderer no longer match.
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
