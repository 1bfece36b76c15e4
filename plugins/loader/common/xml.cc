// SPDX-License-Identifier: Apache-2.0
// The only file that sees tinyxml2. Its number conversions follow the locale and accept anything, so only texts leave.
// What it accepts beyond XML (several roots, text around the root, a DTD) is refused here.
#include "xml.h"

#include <cstdio>
#include <cstring>
#include <new>

#include <tinyxml2.h>

struct xml_document final : tinyxml2::XMLDocument {
    const char *file = "";
};

static const tinyxml2::XMLElement *node(const xml_element *element) {
    return reinterpret_cast<const tinyxml2::XMLElement *>(element);
}

static const xml_element *face(const tinyxml2::XMLElement *element) {
    return reinterpret_cast<const xml_element *>(element);
}

static void complain(xml_problem *problem, int line, const char *text) {
    problem->line = line > 0 ? line : 1;
    std::snprintf(problem->text, sizeof problem->text, "%s", text);
}

static const char *explain(tinyxml2::XMLError error) {
    switch (error) {
    case tinyxml2::XML_ERROR_PARSING_ATTRIBUTE:
        return "a broken attribute, or the file ends here: write name=\"value\" with quotes, each name once";
    case tinyxml2::XML_ERROR_PARSING_TEXT:
        return "a text is not followed by a tag: the file ends too early";
    case tinyxml2::XML_ERROR_PARSING_CDATA:
        return "a CDATA section is not closed by ]]>";
    case tinyxml2::XML_ERROR_PARSING_COMMENT:
        return "a comment is not closed by -->";
    case tinyxml2::XML_ERROR_PARSING_DECLARATION:
        return "an XML declaration <?xml ...?> that is not closed or not at the start of the file";
    case tinyxml2::XML_ERROR_PARSING_UNKNOWN:
        return "a <! ... > section is not closed";
    case tinyxml2::XML_ERROR_EMPTY_DOCUMENT:
        return "the file holds no element";
    case tinyxml2::XML_ERROR_MISMATCHED_ELEMENT:
        return "the element that opens here is not closed by its own end tag";
    case tinyxml2::XML_ELEMENT_DEPTH_EXCEEDED:
        return "elements are nested too deep (limit 98)";
    default:
        return "not well-formed XML: the file ends inside an element, or a tag is broken";
    }
}

static bool blank(const char *text) {
    return text[std::strspn(text, " \t\r\n]>")] == '\0'; // "]>" is left over from a DTD
}

// One element at the top, nothing else but comments, declarations and a DOCTYPE without definitions.
static bool check_top(const tinyxml2::XMLDocument &tree, xml_problem *problem) {
    const tinyxml2::XMLElement *root = nullptr;
    for (const tinyxml2::XMLNode *n = tree.FirstChild(); n != nullptr; n = n->NextSibling()) {
        if (n->ToUnknown() != nullptr && std::strchr(n->Value(), '[') != nullptr) {
            complain(problem, n->GetLineNum(), "the DOCTYPE defines entities, which are never expanded: remove it");
            return false;
        }
        if (n->ToText() != nullptr && !blank(n->Value())) {
            complain(problem, n->GetLineNum(), "text outside of the root element");
            return false;
        }
        if (n->ToElement() != nullptr && root != nullptr) {
            complain(problem, n->GetLineNum(), "a second root element");
            return false;
        }
        root = n->ToElement() != nullptr ? n->ToElement() : root;
    }
    if (root == nullptr) {
        complain(problem, 1, explain(tinyxml2::XML_ERROR_EMPTY_DOCUMENT));
    }
    return root != nullptr;
}

static bool parse(tinyxml2::XMLDocument &tree, const char *text, size_t length, xml_problem *problem) {
    tinyxml2::XMLError error = tree.Parse(text, length);
    if (error == tinyxml2::XML_SUCCESS) {
        return check_top(tree, problem);
    }
    complain(problem, tree.ErrorLineNum(), explain(error));
    return false;
}

xml_document *xml_parse(const char *text, size_t length, const char *file, xml_problem *problem) {
    *problem = xml_problem();
    xml_document *document = nullptr;
    try {
        document = new xml_document;
        document->file = file;
        if (!parse(*document, text, length, problem)) {
            delete document;
            document = nullptr;
        }
    } catch (const std::bad_alloc &) {
        delete document;
        document = nullptr;
        problem->out_of_memory = true;
    }
    return document;
}

void xml_free(xml_document *document) {
    delete document;
}

const xml_element *xml_root(const xml_document *document) {
    return face(document->RootElement());
}

// An element and the root that stands in its place know each other by their user data.
static const tinyxml2::XMLElement *other_end(const tinyxml2::XMLElement *element) {
    return static_cast<const tinyxml2::XMLElement *>(element->GetUserData());
}

void xml_splice(const xml_element *element, const xml_element *root) {
    const_cast<tinyxml2::XMLElement *>(node(element))->SetUserData(const_cast<xml_element *>(root));
    const_cast<tinyxml2::XMLElement *>(node(root))->SetUserData(const_cast<xml_element *>(element));
}

// `next` of the children of `parent`, going into and out of spliced roots.
static const tinyxml2::XMLElement *settle(const tinyxml2::XMLElement *next, const tinyxml2::XMLElement *parent) {
    for (;;) {
        if (next == nullptr) {
            bool spliced = parent != nullptr && parent->Parent()->ToDocument() != nullptr;
            const tinyxml2::XMLElement *place = spliced ? other_end(parent) : nullptr;
            if (place == nullptr) {
                return nullptr;
            }
            next = place->NextSiblingElement();
            parent = place->Parent()->ToElement();
        } else if (other_end(next) != nullptr) {
            parent = other_end(next);
            next = parent->FirstChildElement();
        } else {
            return next;
        }
    }
}

const xml_element *xml_first_child(const xml_element *element) {
    return face(settle(node(element)->FirstChildElement(), nullptr));
}

const xml_element *xml_next_sibling(const xml_element *element) {
    return face(settle(node(element)->NextSiblingElement(), node(element)->Parent()->ToElement()));
}

const char *xml_name(const xml_element *element) {
    return node(element)->Name();
}

const char *xml_attribute(const xml_element *element, const char *name) {
    return node(element)->Attribute(name);
}

static const xml_attribute_entry *face(const tinyxml2::XMLAttribute *attribute) {
    return reinterpret_cast<const xml_attribute_entry *>(attribute);
}

const xml_attribute_entry *xml_first_attribute(const xml_element *element) {
    return face(node(element)->FirstAttribute());
}

const xml_attribute_entry *xml_next_attribute(const xml_attribute_entry *entry) {
    return face(reinterpret_cast<const tinyxml2::XMLAttribute *>(entry)->Next());
}

const char *xml_attribute_name(const xml_attribute_entry *entry) {
    return reinterpret_cast<const tinyxml2::XMLAttribute *>(entry)->Name();
}

const char *xml_text(const xml_element *element) {
    const char *text = node(element)->GetText();
    return text != nullptr ? text : "";
}

int32_t xml_line(const xml_element *element) {
    return node(element)->GetLineNum();
}

const char *xml_file(const xml_element *element) {
    return static_cast<const xml_document *>(node(element)->GetDocument())->file;
}
