package configs

import (
	"regexp"
	"strings"

	"lastdrop/internal/secret"
)

var variable = regexp.MustCompile(`^\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// literal is how a config writes a ${ that is none.
const literal = "$${"

// expand gives a text node its value: raw with each ${NAME} replaced by that
// variable of the environment, and $${ by ${. It happens after the YAML is
// read, so that no value can become YAML. A variable whose name says that it
// is secret is remembered as such.
func (r *reading) expand(n *node, raw string) {
	var value, shown, hashed strings.Builder
	var secrets []string
	for rest := raw; rest != ""; {
		plain, tail := cutDollar(rest)
		value.WriteString(plain)
		shown.WriteString(plain)
		hashed.WriteString(plain)
		switch m := variable.FindStringSubmatch(tail); {
		case tail == "":
			rest = ""
		case strings.HasPrefix(tail, literal):
			value.WriteString("${")
			shown.WriteString(literal)
			hashed.WriteString("${")
			rest = tail[len(literal):]
		case m == nil:
			r.fail(n, `"${" begins no variable`, `write ${NAME}, or $${ for a literal ${`)
			rest = ""
		default:
			rest = tail[len(m[0]):]
			v, ok := r.env(m[1])
			if !ok {
				r.fail(n, "the environment variable "+m[1]+" is not set", `set it, or write $${ for a literal ${`)
			}
			n.fromEnv = true
			value.WriteString(v)
			if v != "" && secret.SensitiveVariable(m[1]) {
				secrets = append(secrets, v)
				shown.WriteString(m[0])
				hashed.WriteString(hidden)
			} else {
				shown.WriteString(escape(v))
				hashed.WriteString(v)
			}
		}
	}
	n.text = value.String()
	n.mark = &mark{raw: raw, value: n.text, shown: shown.String(), hashed: hashed.String(), secrets: secrets}
}

// cutDollar splits a text before its first ${ or $${.
func cutDollar(s string) (plain, rest string) {
	i := strings.Index(s, "${")
	if i < 0 {
		return s, ""
	}
	if i > 0 && s[i-1] == '$' {
		i--
	}
	return s[:i], s[i:]
}

// escape writes a text so that expand gives it back.
func escape(s string) string { return strings.ReplaceAll(s, "${", literal) }
